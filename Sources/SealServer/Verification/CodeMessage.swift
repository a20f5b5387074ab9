/// The mail that brings a code. Nothing in it was chosen by whoever asked for it: no name, no title, no link.
enum CodeMessage {
    /// - Parameter origin: the server's, so that the reader knows where the code belongs.
    static func mail(to recipient: String, code: String, origin: String) -> OutgoingMessage {
        OutgoingMessage(
            recipient: recipient,
            // Subjects show on locked screens: the code is in the body alone.
            subject: "Your verification code",
            body: """
                Your verification code is

                    \(code)

                It is good for ten minutes, for \(origin).

                Type it into the app that asked for it. Nobody else needs it: do not pass it on, whoever asks.
                If you did not ask for a code, ignore this message.
                """)
    }
}
