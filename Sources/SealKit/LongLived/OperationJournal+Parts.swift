import Foundation
import SealPrimitives

extension OperationJournal {
    /// Removes what has come of an account's downloads that are not whole: plaintext of somebody who is signed in no
    /// more. The files under their names are the app's.
    func removeParts(of account: Account) throws(SealKitError) {
        for part in try parts(of: account) { try? FileManager.default.removeItem(at: part) }
    }

    /// Where they lie, or will.
    func parts(of account: Account) throws(SealKitError) -> [URL] {
        let seal = JournalSeal(account: account)
        return try inputs(of: account.keys.rootKey).compactMap { id, row in
            // What does not open has no part that anybody could name.
            guard let bytes = try? seal.open(row, of: id), let input = try? JournaledInput(bytes),
                case .download(_, let file) = input.content
            else { return nil }
            return LongLivedDownload.part(of: file, id)
        }
    }
}
