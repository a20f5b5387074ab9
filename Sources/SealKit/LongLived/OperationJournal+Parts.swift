import Foundation
import SealPrimitives

extension OperationJournal {
    /// Removes what has come of an account's downloads that are not whole: plaintext of somebody who is signed in no
    /// more. The files under their names are the app's.
    func removeParts(of account: Account) throws(SealKitError) {
        let seal = JournalSeal(account: account)
        for (id, row) in try inputs(of: account.keys.rootKey) {
            // What does not open has no part that anybody could name.
            guard let bytes = try? seal.open(row, of: id), let input = try? JournaledInput(bytes),
                case .download(_, let file) = input.content
            else { continue }
            try? FileManager.default.removeItem(at: LongLivedDownload.part(of: file, id))
        }
    }
}
