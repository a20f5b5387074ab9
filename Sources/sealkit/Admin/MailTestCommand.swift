import ArgumentParser
import SealKit

struct MailTestCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail-test",
        abstract: "Send a mail by the server's relay, and show what the relay says.",
        discussion: """
            One mail with a fixed text, sent as codes are. Taken by the relay is not yet arrived: look into the mailbox.

              sealkit admin mail-test you@example.org --data /var/lib/sealkit
            """)

    @Argument(help: "Where to.")
    var address: String

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let trial = try await server.testMail(to: address)
        guard trial.isTaken else {
            let said = trial.answer.isEmpty ? "" : "; the relay said: \(trial.answer)"
            throw Failure.Local(
                status: .network, reason: "\(trial.relay) did not take the mail: \(trial.reason)\(said)",
                remedy: trial.remedy)
        }
        let answer = trial.answer.escaped
        try output.result(
            "\(trial.relay.escaped) has taken the mail" + (answer.isEmpty ? "" : ", and said: \(answer)"), bare: answer,
            json: ["relay": .string(trial.relay), "taken": .bool(true), "answer": .string(trial.answer)])
    }
}
