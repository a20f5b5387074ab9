import SealStorage
import SealWire
import SwiftProtobuf

/// Which values a notification carries: small plain ones.
enum NotificationFields {
    static func pick(
        _ keys: [String], from fields: [String: Sealkit_V1_Field]
    ) -> (fields: [Sealkit_V1_NotificationField], isPruned: Bool) {
        var picked: [Sealkit_V1_NotificationField] = []
        var isPruned = false
        for key in keys {
            guard let field = fields[key] else { continue }
            guard case .plain(let value) = field.content, let (small, isCut) = fitting(value) else {
                isPruned = true
                continue
            }
            isPruned = isPruned || isCut
            picked.append(
                .with {
                    $0.name = key
                    $0.value = small
                })
        }
        return (picked, isPruned)
    }

    /// Nil for what no notification carries: data and lists.
    private static func fitting(_ value: Sealkit_V1_Value) -> (value: Sealkit_V1_Value, isCut: Bool)? {
        switch value.kind {
        case .string(let text):
            var cut = String(text.prefix(PushLimits.stringCharacters))
            // One character may have any number of marks on it.
            if cut.unicodeScalars.count > 4 * PushLimits.stringCharacters {
                cut = String(String.UnicodeScalarView(cut.unicodeScalars.prefix(4 * PushLimits.stringCharacters)))
            }
            return (.with { $0.string = cut }, cut.utf8.count < text.utf8.count)
        case .int64, .double, .date, .location, .reference: return (value, false)
        case .data, .list, nil: return nil
        }
    }
}
