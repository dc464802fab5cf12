//! Faults of the machine, the network and other processes. None of them is a client's final answer, stops the service,
//! or costs other requests their time.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod clocks;
mod cluster;
mod heads;
mod kills;
mod load;
mod locks;
mod machine;
mod neighbors;
mod network;
mod overload;
mod signals;
mod standby;
