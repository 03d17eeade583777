//! `Debug` of what holds a device's memory, closures or a whole problem: its name alone, so that what holds it, and a `Result` of it, can
//! be printed.

use std::any::type_name;
use std::fmt;

/// A type's name without its path and parameters.
fn name<T: ?Sized>() -> &'static str {
    let whole = type_name::<T>();
    let bare = whole.split('<').next().unwrap_or(whole);
    bare.rsplit("::").next().unwrap_or(bare)
}

macro_rules! opaque {
    ($([$($parameter:tt)*] $type:ty),+ $(,)?) => {
        $(impl<$($parameter)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(name::<Self>()).finish_non_exhaustive()
            }
        })+
    };
}

opaque! {
    [] crate::control::Control<'_>,
    [] crate::engine::gpu::GpuContext,
    [] crate::engine::gpu::GpuExecutor,
    [] crate::engine::Helper,
    [] crate::engine::Journal,
    [] crate::engine::LoadedChart,
    [] crate::engine::Vector,
    [] crate::measure::Evaluator<'_, '_>,
    [] crate::measure::Known<'_, '_>,
    [] crate::operator::CurvatureOperator<'_>,
    [A] crate::operator::Horizontal<A>,
    [A] crate::operator::LeviCivita<A>,
    [A] crate::operator::Restricted<A>,
    [A] crate::operator::Scaled<A>,
    [] crate::ranks::Ranks,
    [] crate::ranks::Thread,
    [] crate::space::BatchNormSpace,
    [] crate::space::GSpace,
    [] crate::space::OpenSpace,
    [] crate::space::SpaceCurvature<'_>,
    [] crate::space::WeightFixing,
    [] crate::space::WeightNorm,
    [] crate::space::Weights,
    [] crate::train::Run<'_>,
    [] dyn crate::engine::Executor + '_,
    [] dyn crate::operator::SymmetricOperator + '_,
    [] dyn crate::space::ParameterSpace + '_,
}

#[cfg(test)]
mod tests {
    use super::name;
    use crate::control::Control;

    #[test]
    fn a_name_is_without_path_and_parameters() {
        assert_eq!(name::<Control<'_>>(), "Control");
        assert_eq!(name::<Option<std::cell::Cell<u8>>>(), "Option");
        assert_eq!(format!("{:?}", Control::default()), "Control { .. }");
    }
}
