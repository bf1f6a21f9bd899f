//! From ports that nodes already have, back to the formula that gives them.

use std::collections::BTreeMap;

use super::{Port, Stride, Topology, port_at};

/// The stride with which a formula from `base` gives all of these ports, by shard and node; nothing if none does that has room
/// for the nodes of `topology`, or if there is no port of a second shard to tell.
#[must_use]
pub fn stride_that_gives(base: Port, topology: Topology, ports: &BTreeMap<(u32, u32), Port>) -> Option<Stride> {
    let ((shard, node), port) = ports.iter().find(|((shard, _), _)| *shard > 0)?;
    let offset = u32::from(port.get()).checked_sub(u32::from(base.get()))?.checked_sub(*node)?;
    let stride = Stride::new(offset.checked_div(*shard)?, topology)?;
    gives(base, stride, ports).then_some(stride)
}

/// The base from which a formula with `stride` gives all of these ports, by shard and node; nothing if none does, or if the
/// port of the first node, which it would be, is not among them.
#[must_use]
pub fn base_that_gives(stride: Stride, ports: &BTreeMap<(u32, u32), Port>) -> Option<Port> {
    let base = *ports.get(&(0, 0))?;
    gives(base, stride, ports).then_some(base)
}

fn gives(base: Port, stride: Stride, ports: &BTreeMap<(u32, u32), Port>) -> bool {
    ports.iter().all(|((shard, node), port)| port_at(base, stride, *shard, *node) == u64::from(port.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_that_gave_the_ports_is_found() {
        let ports =
            |ports: &[((u32, u32), u64)]| ports.iter().map(|(at, port)| (*at, Port::new(*port).unwrap())).collect::<BTreeMap<_, _>>();
        let base = |base: u64| Port::new(base).unwrap();
        let fours = ports(&[((0, 0), 9000), ((0, 1), 9001), ((1, 0), 9004), ((2, 1), 9009)]);
        let topology = |replicas: u32| Topology::new(3, replicas).unwrap();
        let stride =
            |from: u64, replicas: u32, ports: &BTreeMap<_, _>| stride_that_gives(base(from), topology(replicas), ports).map(Stride::get);
        assert_eq!(stride(9000, 3, &fours), Some(4));
        assert_eq!(stride(9000, 4, &fours), None, "no room");
        assert_eq!(stride(9001, 1, &fours), None, "another base");
        assert_eq!(stride(9000, 1, &ports(&[((0, 1), 9001)])), None, "nothing to tell");
        assert_eq!(stride(9000, 1, &ports(&[((0, 0), 9000), ((2, 0), 9005)])), None, "no whole number");
        let four = Stride::new(4, topology(1)).unwrap();
        assert_eq!(base_that_gives(four, &fours), Some(base(9000)));
        assert_eq!(base_that_gives(Stride::tight(topology(1)), &fours), None, "another stride");
        assert_eq!(base_that_gives(four, &ports(&[((1, 0), 9004)])), None, "nothing to tell");
        assert_eq!(base_that_gives(four, &BTreeMap::new()), None);
    }
}
