import Foundation
import SealKit

/// Shows records that come in pages, and remembers what of them did not verify.
struct ShownRecords {
    private var count = 0
    /// Why records could not be shown: the first that does not verify, else the first of all. The process's exit code
    /// tells of it, so that nothing hides one that does not verify.
    private(set) var failed: SealKitError?

    var countText: String { count.counted("record") }

    mutating func show(_ changes: Database.RecordZoneChanges, _ output: Output) throws(SealKitError) {
        try show(changes.modifications.map { ($0.recordID, $0.result) }, output)
        for (id, type) in changes.deletions {
            try output.result(
                "\(type.escaped) \(id.recordName.escaped)  deleted",
                json: ["deleted": .object(["recordName": .string(id.recordName), "recordType": .string(type)])])
        }
    }

    mutating func show(_ results: [(Record.ID, Result<Record, SealKitError>)], _ output: Output) throws(SealKitError) {
        for (id, result) in results {
            switch result {
            case .success(let record):
                // A share is a record of its zone as well, and none that anybody has saved there.
                if record.recordType != Share.recordType { count += 1 }
                try output.result(
                    RecordText.line(record), bare: id.recordName.escaped, json: ["record": RecordText.json(record)])
            case .failure(let error):
                failed = FailedRecords.worse(failed, error)
                try output.result(
                    "! \(id.recordName.escaped): \(error.said.escaped.withNames)",
                    json: [
                        "failure": .object([
                            "recordName": .string(id.recordName), "code": .string(error.code.rawValue),
                            "reason": .string(error.said),
                        ])
                    ])
            }
        }
    }
}
