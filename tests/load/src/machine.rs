//! Describes the machine of the measurement.

use std::fs;
use std::thread::available_parallelism;

/// Cores, processor, memory and kernel, in one line.
pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = available_parallelism().map_or(1, usize::from);
    let processor =
        field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory =
        field(&read("/proc/meminfo"), "MemTotal").and_then(|text| kibibytes(&text)).unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cores} cores ({processor}), {} MiB of memory, Linux {}", memory / 1024, kernel.trim())
}

/// The value of `name : value` in a text of the kernel.
pub fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// The number of `N kB`.
pub fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_kernel_are_found_by_their_whole_name() {
        let text = "VmPeak:\t  99 kB\nVmHWM:\t  1234 kB\nmodel name\t: Some CPU @ 3 GHz\n";
        assert_eq!(field(text, "VmHWM").and_then(|value| kibibytes(&value)), Some(1234));
        assert_eq!(field(text, "model name").as_deref(), Some("Some CPU @ 3 GHz"));
        assert_eq!(field(text, "Vm"), None);
    }
}
