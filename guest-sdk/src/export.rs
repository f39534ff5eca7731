//! `export!`, which turns a [`Subagent`](crate::Subagent) into a component, and the custom section that
//! describes it. The host reads the section without running anything. Must not hold behaviour of a subagent.

/// Makes a type that implements [`Subagent`](crate::Subagent) the component's handler. Once a component.
///
/// The description is what a parent agent's model reads to decide when to delegate: say what the subagent is
/// for, what it answers and what it cannot do. It is any constant `&str`; left out, whoever registers the
/// component has to give one.
///
/// ```
/// use deputy_guest::{Answer, Failure, Subagent, Task, Tool};
///
/// struct Echo;
///
/// impl Subagent for Echo {
///     fn handle(task: Task, _handed: Vec<Tool>) -> Result<Answer, Failure> {
///         Ok(Answer { text: task.input(), complete: true })
///     }
/// }
///
/// deputy_guest::export!(Echo, description = "Says the task back.");
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($subagent:ty $(,)?) => {
        $crate::export!(@ $subagent, ::core::option::Option::None);
    };
    ($subagent:ty, description = $description:expr $(,)?) => {
        $crate::export!(@ $subagent, ::core::option::Option::Some($description));
    };
    (@ $subagent:ty, $description:expr) => {
        const _: () = {
            type Exported = $subagent;
            $crate::bindings::export_component!(Exported with_types_in $crate::bindings);

            const DESCRIPTION: ::core::option::Option<&'static str> = $description;
            #[cfg(target_arch = "wasm32")]
            #[used]
            #[unsafe(link_section = "deputy:subagent")]
            static SECTION: [u8; $crate::section::length(DESCRIPTION)] = $crate::section::json(DESCRIPTION);
        };
    };
}
