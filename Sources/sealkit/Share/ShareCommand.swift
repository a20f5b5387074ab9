import ArgumentParser

struct ShareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Share zones with people, and accept what others share.",
        discussion: """
            A share URL has a secret after its #, which never reaches the server. Send URLs over a channel that you trust, and \
            give a one-time URL to nobody but the person that it was made for.
            """,
        subcommands: [
            ShareCreate.self, ShareInvite.self, ShareShow.self, ShareURLCommand.self, SharePermission.self,
            ShareRemove.self,
            ShareRole.self, SharePublic.self, ShareBlock.self, ShareUnblock.self, ShareRequests.self, ShareApprove.self,
            ShareDeny.self, ShareRequest.self, ShareStop.self, ShareLeave.self, ShareAccept.self,
            SharePreviewCommand.self,
        ])
}
