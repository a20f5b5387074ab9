/// What one device has made of its part of the world, one step after the other: after a crash it is there as far as was
/// acknowledged, or one step further.
struct KnownWorld<World: Equatable & Sendable>: Sendable {
    private(set) var world: World
    /// What the step would have led to that got no answer.
    private var pending: World?
    private(set) var steps = 0
    private(set) var unheard = 0
    private(set) var unheardAndDone = 0

    init(_ world: World) { self.world = world }

    /// A step was acknowledged, which led there.
    mutating func stepped(to next: World) {
        world = next
        steps += 1
    }

    /// A step got no answer, which would have led there.
    mutating func missed(_ next: World) { pending = next }

    /// Somebody else has led there.
    mutating func moved(to found: World) { world = found }

    /// Goes on from what a server has that was started again.
    /// - Throws: `Finding` unless that is as before the step that got no answer, or as after it.
    mutating func goOn(from found: World, _ text: (World) -> String) throws(Finding) {
        guard let pending else {
            return try check(
                found == world, "what was acknowledged is not there: found \(text(found)), and not \(text(world))")
        }
        unheard += 1
        if found == pending, pending != world { unheardAndDone += 1 }
        try check(
            found == world || found == pending,
            "a step without an answer was done in part: found \(text(found)); before \(text(world)); after \(text(pending))"
        )
        world = found
        self.pending = nil
    }
}
