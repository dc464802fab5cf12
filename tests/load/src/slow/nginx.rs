//! nginx with `docs/proxies/nginx.conf` in front of the server.

use crate::Outcome;
use crate::process::{Process, free_address};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// The file of operators.
const FILE: &str = "docs/proxies/nginx.conf";

/// Starts it over plain HTTP, which the slow clients speak, and without its limits of one address: the clients come from few.
pub fn start(directory: &Path, server: SocketAddr) -> Outcome<Process> {
    let [address, unused] = [free_address()?, free_address()?];
    let place = directory.display().to_string();
    let temporary =
        format!("http {{\n    client_body_temp_path {place}/body;\n    proxy_temp_path {place}/proxy;\n");
    let changes = [
        ("user www-data;\n", String::new()),
        ("/run/nginx.pid", format!("{place}/nginx.pid")),
        ("/var/log/nginx/access.log", "off".to_owned()),
        ("http {\n", temporary),
        ("127.0.0.1:3000", server.to_string()),
        ("listen [::]:80 default_server;", String::new()),
        ("listen [::]:443 ssl http2 default_server;", String::new()),
        ("listen 80 ", format!("listen {unused} ")),
        ("listen 443 ssl http2 ", format!("listen {address} ")),
        ("ssl_certificate /etc/ssl/city.example/fullchain.pem;", String::new()),
        ("ssl_certificate_key /etc/ssl/city.example/key.pem;", String::new()),
        ("limit_conn connections 100;", String::new()),
        ("limit_req zone=requests burst=200 nodelay;", String::new()),
    ];
    let mut text = fs::read_to_string(FILE)?;
    for (from, to) in changes {
        if !text.contains(from) {
            return Err(format!("{FILE} has no {from}").into());
        }
        text = text.replace(from, &to);
    }
    let file = directory.join("nginx.conf");
    fs::write(&file, text)?;
    let mut command = Command::new("nginx");
    command.args(["-e", "stderr", "-g", "daemon off; master_process off;", "-c"]).arg(file);
    Process::start(&mut command, address)
}
