import ArgumentParser
import SealKit

struct DeviceApprove: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Bring the account to another device, on which sealkit account enrol is running.",
        discussion: """
              sealkit device approve sealkit-enrol:0123-4567-89ab-cdef-0123-4567-89ab-cdef

            Give it what the other device shows. Both then show six digits: each is to be told the other's. Instead of the digits \
            the whole transcript can be given, which leaves nothing to chance. A device takes part in one enrolment at a time, and begins \
            none by itself: each of these commands is its user's word for one.
            """)

    @Argument(help: "What the new device shows.")
    var invitation: String

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let lock = try KeyFileLock(beside: global.keyFileURL)
        defer { withExtendedLifetime(lock) {} }
        let approval = try await client.account.approveDevice(invitation)
        do {
            let comparison = try await approval.comparison()
            try EnrolmentQuestion.show(comparison, output)
            switch try EnrolmentQuestion.ask(comparison, on: .old, output) {
            case .digits: try await approval.confirm()
            case .transcript(let text): try await approval.confirm(scanned: text)
            }
        } catch {
            await Interruption.settle { await approval.cancel() }
            throw error
        }
        try output.result(
            "handed over; the other device says when it is ready", bare: "handed over",
            json: ["handedOver": .bool(true)])
    }
}
