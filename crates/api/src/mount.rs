//! Mounts the interface on actix-web.

use crate::api::Api;
use crate::route::BASE;
use crate::{confirmations, overload, pipeline, served_files, service};
use actix_web::{HttpRequest, web};
use std::sync::Arc;

impl Api {
    /// Mounts all routes and pages on the thread of the caller, in its runtime.
    pub fn configure(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        overload::watch();
        service::mount(config, self, BASE);
        service::mount_metadata(config, self);
        confirmations::mount(config, &self.backend);
        served_files::mount(config, &self.backend);
        let api = self.clone();
        config.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
            pipeline::serve(api.clone(), request, payload)
        }));
    }
}
