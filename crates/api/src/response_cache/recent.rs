//! A map of bounded size that discards entries that were not used recently.

use std::collections::HashMap;
use std::mem::take;

/// Two halves. Entries that are stored or read go to the young half; when it is full it becomes the old half, and the
/// entries of the previous old half are discarded. This approximates LRU without a list of all keys.
pub(super) struct Recent<V> {
    young: HashMap<Box<[u8]>, Weighed<V>>,
    old: HashMap<Box<[u8]>, Weighed<V>>,
    weight: usize,
    half: usize,
}

struct Weighed<V> {
    value: V,
    weight: usize,
}

impl<V: Clone> Recent<V> {
    /// An empty one, of at most this weight.
    pub(super) fn new(capacity: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), weight: 0, half: capacity / 2 }
    }

    /// The value of a key, if it is stored and still valid.
    pub(super) fn get(&mut self, key: &[u8], holds: impl Fn(&V) -> bool) -> Option<V> {
        if let Some(kept) = self.young.get(key) {
            return holds(&kept.value).then(|| kept.value.clone());
        }
        if !self.old.get(key).is_some_and(|kept| holds(&kept.value)) {
            return None;
        }
        let (key, Weighed { value, weight }) = self.old.remove_entry(key)?;
        self.put(key, value.clone(), weight);
        Some(value)
    }

    /// Stores a value, unless its weight exceeds a half.
    pub(super) fn put(&mut self, key: Box<[u8]>, value: V, weight: usize) {
        if weight > self.half {
            return;
        }
        if let Some(replaced) = self.young.remove(&key) {
            self.weight -= replaced.weight;
        }
        if self.weight + weight > self.half {
            (self.old, self.weight) = (take(&mut self.young), 0);
        }
        self.weight += weight;
        self.young.insert(key, Weighed { value, weight });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Box<[u8]> {
        name.as_bytes().into()
    }

    fn has(recent: &mut Recent<u8>, name: &str) -> bool {
        recent.get(&key(name), |_| true).is_some()
    }

    #[test]
    fn entries_that_are_read_stay_while_others_are_discarded() {
        let mut recent = Recent::new(20);
        recent.put(key("asked"), 1, 5);
        recent.put(key("not asked"), 2, 5);
        for name in ["a", "b", "c", "d", "e", "f"] {
            recent.put(key(name), 0, 5);
            assert!(has(&mut recent, "asked"), "after {name}");
        }
        assert!(!has(&mut recent, "not asked"));
        assert!(recent.weight <= 10 && recent.young.len() + recent.old.len() <= 4);
    }

    #[test]
    fn a_heavy_value_is_stored_among_many_that_are_read_often() {
        let mut recent = Recent::new(200);
        for number in 0..100 {
            recent.put(Box::new([number]), number, 1);
        }
        for _ in 0..20 {
            assert!((0..100).all(|number| recent.get(&[number], |_| true) == Some(number)));
        }
        recent.put(key("list"), 7, 50);
        assert!(has(&mut recent, "list"));
        recent.put(key("too heavy"), 8, 101);
        assert!(has(&mut recent, "list") && !has(&mut recent, "too heavy"));
    }

    #[test]
    fn a_value_takes_the_place_of_the_one_before() {
        let mut recent = Recent::new(20);
        for value in 0..100 {
            recent.put(key("one"), value, 4);
        }
        assert_eq!(recent.get(&key("one"), |_| true), Some(99));
        assert_eq!(recent.get(&key("one"), |value| *value < 99), None, "it does not hold any more");
        assert_eq!((recent.weight, recent.old.len()), (4, 0));
    }
}
