import SealKit

/// How a device looks.
enum DeviceText {
    static func lines(_ devices: [Device]) -> String { devices.map(line).joined(separator: "\n") }

    static func line(_ device: Device) -> String {
        let mark = device.isCurrent ? "  this one" : device.isNew ? "  NEW" : ""
        let (added, seen) = (Timestamp.text(device.added), Timestamp.text(device.lastSeen))
        return "\(device.id)  added \(added)  last seen \(seen)  \(device.name.escaped)\(mark)"
    }

    static func json(_ device: Device) -> [String: JSONValue] {
        [
            "id": .string(device.id), "name": .string(device.name), "added": .string(Timestamp.text(device.added)),
            "lastSeen": .string(Timestamp.text(device.lastSeen)), "isCurrent": .bool(device.isCurrent),
            "isNew": .bool(device.isNew),
        ]
    }

    static func json(_ devices: [Device]) -> [String: JSONValue] {
        ["devices": .array(devices.map { .object(json($0)) })]
    }

    static func bare(_ devices: [Device]) -> String? {
        devices.isEmpty ? nil : devices.map(\.id).joined(separator: "\n")
    }
}

/// The device that an argument names: by its id, the beginning of it, or its name where that is the only one.
enum DeviceArgument {
    /// Of an id's beginning: what one or two characters are the beginning of may be another device soon.
    private static let leastCharacters = 4

    static func find(_ text: String, in devices: [Device]) throws(SealKitError) -> Device {
        let found = devices.filter {
            $0.name == text || (text.count >= leastCharacters && $0.id.hasPrefix(text.lowercased()))
        }
        guard let device = found.first else {
            if !text.isEmpty, text.count < leastCharacters,
                devices.contains(where: { $0.id.hasPrefix(text.lowercased()) })
            {
                throw SealKitError(
                    .invalidArguments, "\(text) is too little of a device's id",
                    remedy: "give at least \(leastCharacters) of its characters, or the device's name")
            }
            throw SealKitError(.unknownItem, "the account has no such device", remedy: "see sealkit device list")
        }
        guard found.count == 1 else {
            throw SealKitError(
                .invalidArguments, "several devices are meant by this",
                remedy: "give the whole id, see sealkit device list")
        }
        return device
    }
}
