import SealKit
import SealLab

extension ModelRun {
    /// Opens a new key, or seals again what is under older ones: alone, or while another device writes.
    mutating func playKeys(_ zone: String, _ random: inout SeededRandom) async throws {
        let device = random.chance(50) ? random.below(Self.owners) : random.below(devices.count)
        let rotates = random.chance(50)
        guard random.chance(50) else {
            let before = store.open(zone)?.epoch
            if rotates {
                try await play(Rotation(device: device, zone: zone))
                count(store.open(zone)?.epoch == before ? .refusedRotation : .rotated)
            } else {
                let hasStale = store.open(zone)?.stale.isEmpty == false
                try await play(Rekeying(device: device, zone: zone, isAlone: true))
                if hasStale, store.open(zone)?.stale.isEmpty == true { count(.rekeyed) }
            }
            return
        }
        var writer = random.below(devices.count - 1)
        if writer >= device { writer += 1 }
        let keys: any ModelCall =
            rotates ? Rotation(device: device, zone: zone) : Rekeying(device: device, zone: zone, isAlone: false)
        var calls = [keys, modification(writer, zone, isAlone: false, &random)]
        if random.chance(50), let lookUp = lookUp((writer + 1) % devices.count, zone, &random) { calls.append(lookUp) }
        // Which of the two came first shows in what is left under older keys.
        try await play(calls, zone, then: [Rekeying(device: 0, zone: zone, isAlone: true)])
        count(rotates ? .rotatedAtOnce : .rekeyedAtOnce)
    }
}
