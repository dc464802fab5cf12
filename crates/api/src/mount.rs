//! Mounts the interface on actix-web.

use crate::api::Api;
use crate::route::BASE;
use crate::{confirmations, pipeline, served_files, service};
use actix_web::{HttpRequest, web};
use std::sync::Arc;

impl Api {
    /// Mounts all routes and pages.
    pub fn configure(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        service::mount(config, self, BASE);
        confirmations::mount(config, &self.backend);
        served_files::mount(config, &self.backend);
        let api = self.clone();
        config.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
            pipeline::serve(api.clone(), request, payload)
        }));
    }
}
