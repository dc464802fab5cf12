//! Time zones of organizations (sheet 13 §5.1).

use civitas_organizations::TIME_ZONES;

/// Names of Rails that are not the last part of a name of contract 11, and links of the IANA database: `name = zone`.
const OTHERS: &str = include_str!("time_zones.txt");

fn others() -> impl Iterator<Item = (&'static str, &'static str)> {
    OTHERS.lines().filter_map(|line| line.split_once(" = "))
}

/// The zone of contract 11 for a name of the source: the same name, a name of Rails (`Madrid`), or an IANA link.
pub(crate) fn resolve(name: &str) -> Option<&'static str> {
    let same = TIME_ZONES.into_iter().find(|zone| *zone == name);
    let other = || others().find(|(other, _)| *other == name).map(|(_, zone)| zone);
    let city = || {
        let is_city =
            |zone: &&str| zone.rsplit('/').next().is_some_and(|last| last.replace('_', " ") == name);
        TIME_ZONES.into_iter().find(is_city)
    };
    same.or_else(other).or_else(city)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rails_and_links_become_zones_of_the_contract() {
        assert_eq!(resolve("Europe/Zurich"), Some("Europe/Zurich"));
        assert_eq!(resolve("Madrid"), Some("Europe/Madrid"));
        assert_eq!(resolve("Buenos Aires"), Some("America/Argentina/Buenos_Aires"));
        assert_eq!(resolve("Asia/Calcutta"), Some("Asia/Kolkata"));
        assert_eq!(resolve("Nowhere"), None);
        assert!(others().all(|(_, zone)| TIME_ZONES.contains(&zone)), "each is a zone of the contract");
    }
}
