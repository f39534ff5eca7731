use super::*;

fn config(spec: &str) -> ModelConfig {
    ModelConfig::new(spec.parse().unwrap())
}

#[test]
fn every_form_is_read_and_written_alike() {
    let forms = ["openai:gpt-4o", "anthropic:claude-opus-4-1", "ollama:llama3.2:3b", "scripted:a/b.json"];
    for form in forms {
        assert_eq!(form.parse::<ModelSpec>().unwrap().to_string(), form);
        assert_eq!(format!(" {form}\n").parse::<ModelSpec>().unwrap().to_string(), form);
    }
    assert_eq!(
        "ollama:llama3.2:3b".parse::<ModelSpec>().unwrap(),
        ModelSpec::Ollama { model: "llama3.2:3b".to_owned() }
    );
}

#[test]
fn other_texts_are_answered_with_the_forms_and_what_was_meant() {
    let cases = [
        ("opanai:gpt-4o", "did you mean `openai:gpt-4o`?"),
        ("Anthropic:claude", "did you mean `anthropic:claude`?"),
        ("script:a.json", "did you mean `scripted:a.json`?"),
        ("olama:llama3.2:3b", "did you mean `ollama:llama3.2:3b`?"),
        ("openai", "did you mean `openai:` with a name after it?"),
        ("anthropic:", "did you mean `anthropic:` with a name after it?"),
        ("gpt-4o", "`gpt-4o` came"),
        ("", "`` came"),
        (":x", "`:x` came"),
    ];
    for (text, says) in cases {
        let error = text.parse::<ModelSpec>().unwrap_err().to_string();
        assert!(error.ends_with(says), "{error}");
        for form in ["`openai:NAME`", "`anthropic:NAME`", "`ollama:NAME`", "`scripted:demo.json`"] {
            assert!(error.contains(form), "{error}");
        }
    }
}

#[test]
fn the_providers_own_servers_want_a_key_and_others_do_not() {
    let own = [
        ("openai:gpt-4o", "OPENAI_API_KEY", "https://api.openai.com"),
        ("anthropic:claude", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1/"),
    ];
    for (spec, variable, base) in own {
        for base in [None, Some(" ".to_owned()), Some(base.to_owned())] {
            for key in [None, Some(Secret::new(" \n".to_owned()))] {
                let error = connect(ModelConfig { base_url: base.clone(), api_key: key, ..config(spec) });
                let error = error.unwrap_err().to_string();
                assert!(error.contains(variable) && error.contains(spec), "{error}");
            }
        }
        let elsewhere = Some("http://127.0.0.1:9/v1".to_owned());
        let model = connect(ModelConfig { base_url: elsewhere, ..config(spec) }).unwrap();
        assert_eq!(model.name(), spec);
        let key = Some(Secret::new("sk-0123456789\n".to_owned()));
        assert!(
            connect(ModelConfig { api_key: key, ..config(spec) }).is_ok(),
            "a line feed at the end is cut"
        );
    }
    assert!(connect(config("ollama:llama3.2")).is_ok());
}

#[test]
fn a_key_that_no_header_holds_is_named_but_not_shown() {
    let key = Some(Secret::new("sk-canary\u{1}-canary".to_owned()));
    let error = connect(ModelConfig { api_key: key, ..config("openai:gpt-4o") }).unwrap_err();
    assert!(matches!(error, ModelSpecError::UnusableKey { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("canary"));
}

#[test]
fn base_urls_that_are_none_are_refused_with_a_way_out() {
    let cases = [
        ("localhost:8080", "try `http://localhost:8080`"),
        ("example.com/v1", "try `https://example.com/v1`"),
        ("ftp://example.com", "`ftp`"),
        ("http://", "host"),
    ];
    for (base, says) in cases {
        let error =
            connect(ModelConfig { base_url: Some(base.to_owned()), ..config("openai:gpt-4o") }).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&format!("`{base}`")) && error.contains(says), "{error}");
    }
    let secret = "ftp://user:canary@example.com?key=canary";
    let error = connect(ModelConfig { base_url: Some(secret.to_owned()), ..config("openai:gpt-4o") });
    let error = error.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
}

#[test]
fn a_configuration_is_shown_without_its_secrets() {
    let config = ModelConfig {
        base_url: Some("https://user:canary@example.com/v1?key=canary".to_owned()),
        api_key: Some(Secret::new("sk-canary-0123".to_owned())),
        ..config("openai:gpt-4o")
    };
    let shown = format!("{config:?}");
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("***") && shown.contains("https://example.com/v1"), "{shown}");
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let error = connect(config("scripted:/nowhere/a.json")).unwrap_err().to_string();
    assert!(error.contains("/nowhere/a.json"), "{error}");
}
