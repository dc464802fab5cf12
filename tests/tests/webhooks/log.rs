//! `civitas webhook`: what an operator sees and does.

use super::{CLIENT, Platform};
use civitas_kernel::{Ability, EventName};
use civitas_server::cli::{Console, run};
use civitas_tests::Behaviour;
use serde_json::Value;

const CREATED: EventName = Ability::ProposalCreation;

impl Platform {
    /// Runs a command on the database of the server. Its exit code, its lines, and its errors.
    async fn command(&self, arguments: &[&str]) -> (u8, Vec<Value>, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let url = self.service.database.url().to_owned();
        let settings = [
            "civitas",
            "--database-url",
            url.as_str(),
            "--secret-key",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "--webhook-allowed-networks",
            "127.0.0.0/8",
            "webhook",
        ];
        let console = Console {
            environment: Vec::new(),
            stdin: &mut std::io::empty(),
            stdout: &mut out,
            stderr: &mut err,
            watched: false,
        };
        let code = run(settings.iter().chain(arguments), console).await;
        let lines = String::from_utf8(out).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        (code, lines, String::from_utf8(err).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_lists_tests_pauses_and_replays() {
    for mut platform in Platform::on_both_engines(&[("webhook_retry_delays_seconds", "1")]).await {
        let registration = platform.register("/", &[CREATED]).await.0.to_string();
        let id = registration.as_str();
        platform.receiver.behave(Behaviour::Answer(500));
        platform.append_events(CREATED, 1).await;
        platform.receiver.wait_for(2).await;
        platform.ended(civitas_kernel::RegistrationId(registration.parse().unwrap())).await;
        let (code, listed, _) = platform.command(&["list", "--organization", "city.test"]).await;
        assert_eq!((code, &listed[0]["deliveries"]["dead"]), (0, &Value::from(1)), "{listed:?}");
        assert!(!listed[0].to_string().contains("secret"));
        let (_, dead, _) = platform.command(&["deliveries", "--registration", id, "--status", "dead"]).await;
        let delivery = dead[0]["id"].as_str().unwrap();
        let (_, shown, _) = platform.command(&["deliveries", delivery]).await;
        assert_eq!(shown[0]["log"].as_array().unwrap().len(), 2, "{shown:?}");

        assert_eq!(platform.command(&["pause", id]).await.0, 0);
        let (code, _, errors) = platform.command(&["test", id]).await;
        assert_eq!((code, errors.trim()), (1, "civitas: Registration is paused"));
        let (_, replayed, _) = platform.command(&["replay", "--registration", id, "--failed"]).await;
        assert_eq!(replayed[0]["replayed"], 1);
        platform.receiver.behave(Behaviour::Answer(200));
        assert_eq!(platform.command(&["resume", id]).await.0, 0);
        platform.receiver.wait_for(3).await;
        assert_eq!(platform.command(&["test", id, "--event", "user.created"]).await.0, 0);
        let all = platform.receiver.wait_for(4).await;
        assert_eq!(all[3].event(), "user.created");
        platform.events_of(&all);
        let (_, none, _) = platform.command(&["list", "--organization", "town.test"]).await;
        assert!(none.is_empty());
        let (code, _, _) = platform.command(&["pause", id, "--organization", "town.test"]).await;
        assert_eq!(code, 1, "a registration of another organization");
        assert!(CLIENT.contains("hooks"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_is_told_apart_from_failure() {
    for platform in Platform::on_both_engines(&[]).await {
        assert_eq!(platform.command(&["replay"]).await.0, 2);
        assert_eq!(platform.command(&["replay", "--registration", "1"]).await.0, 1);
        assert_eq!(platform.command(&["deliveries", "--status", "lost"]).await.0, 2);
        assert_eq!(platform.command(&["pause", "999999"]).await.0, 1);
        assert_eq!(platform.command(&["list", "--organization", "nowhere.test"]).await.0, 1);
    }
}
