//! Mounts the interface on actix-web.

use crate::BASE_PATH;
use crate::api::Api;
use crate::{confirmations, pipeline, served_files, service};
use actix_web::{HttpRequest, web};
use std::sync::Arc;

impl Api {
    /// Mounts all routes and pages on the thread of the caller, in its runtime. Mount it before others: actix-web tries the
    /// patterns of all resources one after the other, and one prefix is enough to find the interface.
    pub fn configure(self: &Arc<Self>, config: &mut web::ServiceConfig) {
        config.service(web::scope(BASE_PATH).configure(|scope| {
            service::mount(scope, self);
            self.serve_rest(scope);
        }));
        config.service(web::scope("/oauth").configure(|scope| self.serve_rest(scope)));
        service::mount_at_hosts(config, self);
        confirmations::mount(config, &self.backend);
        served_files::mount(config, &self.backend);
        self.serve_rest(config);
    }

    /// Answers all requests of a scope without a service of their own.
    fn serve_rest(self: &Arc<Self>, scope: &mut web::ServiceConfig) {
        let api = self.clone();
        scope.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
            pipeline::serve(api.clone(), request, payload)
        }));
    }
}
