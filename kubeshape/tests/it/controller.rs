//! A controller of kube-rs and the API server for tests.

use futures_util::StreamExt;
use kube_client::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams};
use kube_client::{Client, Error};
use kube_runtime::controller::{Action, Controller};
use kube_runtime::watcher;
use kubeshape::test::Server;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status: {type: object, properties: {observedGeneration: {type: integer}}}
";
const COUNT: usize = 1000;
const PATIENCE: Duration = Duration::from_mins(2);

fn is_reconciled(tab: &DynamicObject) -> bool {
    tab.data["status"]["observedGeneration"].as_i64() == tab.metadata.generation
}

/// Writes the observed generation into the status.
async fn reconcile(tab: Arc<DynamicObject>, tabs: Arc<Api<DynamicObject>>) -> Result<Action, Error> {
    if !is_reconciled(&tab) {
        let status = json!({
            "apiVersion": "example.com/v1", "kind": "Tab", "status": {"observedGeneration": tab.metadata.generation},
        });
        let name = tab.metadata.name.as_deref().unwrap_or_default();
        tabs.patch_status(name, &PatchParams::apply("controller").force(), &Patch::Apply(&status)).await?;
    }
    Ok(Action::await_change())
}

/// Waits until the status of all objects has their generation.
async fn all_are_reconciled(tabs: &Api<DynamicObject>) {
    let began = Instant::now();
    loop {
        let list = tabs.list(&ListParams::default()).await.unwrap();
        let done = list.items.iter().filter(|tab| is_reconciled(tab)).count();
        if done == COUNT {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{done} of {COUNT} are reconciled");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_of_kube_rs_reconciles_a_thousand_objects() {
    let server = Server::new();
    server.load("tabs.yaml", DEFINITION).unwrap();
    let client = Client::new(server.service(), "default");
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", "Tab"), "tabs");
    let tabs: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);
    let tab = |n: usize| DynamicObject::new(&format!("tab-{n}"), &resource).data(json!({"spec": {"size": n}}));
    for n in 0..COUNT / 2 {
        tabs.create(&PostParams::default(), &tab(n)).await.unwrap();
    }
    let controller = Controller::new_with(tabs.clone(), watcher::Config::default(), resource.clone());
    let on_error =
        |_: Arc<DynamicObject>, _: &Error, _: Arc<Api<DynamicObject>>| Action::requeue(Duration::from_secs(1));
    let running = controller.run(reconcile, on_error, Arc::new(tabs.clone()));
    let running = tokio::spawn(running.for_each(|_| std::future::ready(())));
    // Some exist before the controller, others are created while it runs.
    for n in COUNT / 2..COUNT {
        tabs.create(&PostParams::default(), &tab(n)).await.unwrap();
    }
    all_are_reconciled(&tabs).await;
    // Changes are reconciled again.
    for n in 0..10 {
        let patch = Patch::Merge(json!({"spec": {"size": -1}}));
        tabs.patch(&format!("tab-{n}"), &PatchParams::default(), &patch).await.unwrap();
    }
    all_are_reconciled(&tabs).await;
    running.abort();
}
