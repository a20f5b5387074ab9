// What the pages' blocks of code take for granted: Documentation/snippets.py compiles them with this, and runs none of
// it.
import Foundation
import SealKit

/// For `…`, and for what a block has from elsewhere.
func elided<Value>() -> Value { fatalError("nothing of this runs") }
/// Where nothing is made of it.
func elided() -> Never { fatalError("nothing of this runs") }

nonisolated(unsafe) var account: Account = elided()
nonisolated(unsafe) var accounts: AccountProvider = elided()
nonisolated(unsafe) var container: Container = elided()
nonisolated(unsafe) var database: Database = elided()
nonisolated(unsafe) var store: any KeyStore = elided()
nonisolated(unsafe) var transport: any Transport = elided()
nonisolated(unsafe) var trust: TrustStore = elided()
nonisolated(unsafe) var zone: RecordZone = elided()
nonisolated(unsafe) var zoneID: RecordZone.ID = elided()
nonisolated(unsafe) var note: Record = elided()
nonisolated(unsafe) var notes: [Record] = elided()
nonisolated(unsafe) var list: Record = elided()
nonisolated(unsafe) var record: Record = elided()
nonisolated(unsafe) var recordID: Record.ID = elided()
nonisolated(unsafe) var id: Record.ID = elided()
nonisolated(unsafe) var root: Record = elided()
nonisolated(unsafe) var share: Share = elided()
nonisolated(unsafe) var changes: Database.RecordZoneChanges = elided()
nonisolated(unsafe) var token: ServerChangeToken = elided()
nonisolated(unsafe) var bobsUserRecordID: Record.ID = elided()
nonisolated(unsafe) var url: String = elided()
nonisolated(unsafe) var invitee: any Invitee = elided()
nonisolated(unsafe) var file: URL = elided()
nonisolated(unsafe) var keyFile: URL = elided()
nonisolated(unsafe) var folder: URL = elided()
nonisolated(unsafe) var trustFile: URL = elided()
nonisolated(unsafe) var savedID: String? = elided()

/// An app's screen.
func show(_ what: Any?...) {}
func show(_ title: String, by author: Record.ID, _ date: Date) {}

/// What the app has a person type.
nonisolated(unsafe) var typed: String = elided()
func ask(_ question: String) async throws(SealKitError) -> String { elided() }
func keep(_ results: [Record.ID: Result<Record, SealKitError>]) throws {}

/// What a webhook was sent.
nonisolated(unsafe) var body: Data = elided()
nonisolated(unsafe) var headers: [String: String] = elided()
