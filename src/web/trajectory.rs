//! `network.principalComponents` in JavaScript.

use js_sys::{Array, Promise};
use serde::Deserialize;
use serde_json::json;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::convert::{float64, set, to_js};
use super::error::fault;
use super::network::Network;
use super::options::{Parts, trajectory};
use super::run::thrown;
use crate::error::ErrorCode;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrincipalOption {
    components: Option<usize>,
}

#[wasm_bindgen]
impl Network {
    /// The directions along which a training's snapshots vary most.
    #[wasm_bindgen(js_name = principalComponents)]
    pub fn principal_components(&self, snapshots: JsValue, options_value: JsValue) -> Promise {
        let network = self.inner.clone();
        let trajectory = trajectory(&snapshots, "principalComponents");
        let parts = Parts::new(&options_value);
        future_to_promise(async move {
            let found: PrincipalOption = parts.parse("principalComponents")?;
            let components = found.components.unwrap_or(2);
            if components == 0 {
                let message = "principalComponents: components is 0, but must be at least 1";
                return Err(fault(ErrorCode::InvalidOption, message));
            }
            let trajectory = trajectory?;
            for snapshot in trajectory.snapshots() {
                thrown(network.check_parameters(snapshot))?;
            }
            let control = parts.control();
            thrown(control.breathe().await)?;
            let found = thrown(trajectory.principal(components, &control).await)?;
            let out = to_js(&json!({ "explained": found.explained }))?;
            let directions: Array = found.directions.iter().map(|direction| float64(direction)).collect();
            set(&out, "directions", &directions);
            Ok(out)
        })
    }
}
