import Hummingbird
import SealService
import SealWire

/// How the server lets requests in that are of one kind of access.
protocol ServedAccess: EndpointAccess {
    associatedtype Call: EndpointCall

    /// Before anything of the body is read. What a refusal costs is counted before that, with the request.
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) async throws -> Call

    /// Once the body has come, whose sender may have held it back until it was no longer good. Sessions are looked at
    /// with the body.
    func bodyCame(_ call: Call, _ door: ServedDoor) async throws
}

extension ByAnyone: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) -> OpenCall {
        OpenCall(request: request, context: context)
    }
    func bodyCame(_ call: OpenCall, _ door: ServedDoor) {}
}

extension ByTicket: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) -> OpenCall {
        OpenCall(request: request, context: context)
    }
    func bodyCame(_ call: OpenCall, _ door: ServedDoor) {}
}

extension BySession: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> SessionCall {
        SessionCall(request: request, context: context, session: try context.requireSession())
    }
    func bodyCame(_ call: SessionCall, _ door: ServedDoor) {}
}

extension InContainer: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> ContainerCall {
        let session = try context.requireSession()
        let (container, environment) = try DatabasePath.place(context)
        return ContainerCall(
            request: request, context: context, session: session, container: container, environment: environment)
    }
    func bodyCame(_ call: ContainerCall, _ door: ServedDoor) {}
}

extension InDatabase: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> DatabaseCall {
        let session = try context.requireSession()
        let path = try DatabasePath(context)
        try path.requireNotPublic()
        if databases == .private { try path.requirePrivate() }
        return DatabaseCall(request: request, context: context, session: session, path: path)
    }
    func bodyCame(_ call: DatabaseCall, _ door: ServedDoor) {}
}

extension InAnyDatabase: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> DatabaseCall {
        let path = try DatabasePath(context)
        return DatabaseCall(
            request: request, context: context, session: try context.requireSession(in: path), path: path)
    }
    func bodyCame(_ call: DatabaseCall, _ door: ServedDoor) {}
}

extension InAnyDatabaseByAnyone: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> VisitorCall {
        let path = try DatabasePath(context)
        return VisitorCall(request: request, context: context, session: try context.session(in: path), path: path)
    }
    func bodyCame(_ call: VisitorCall, _ door: ServedDoor) {}
}

extension InPublicDatabase: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> DatabaseCall {
        let path = try DatabasePath(context)
        try path.requirePublic()
        return DatabaseCall(
            request: request, context: context, session: try context.requireSession(in: path), path: path)
    }
    func bodyCame(_ call: DatabaseCall, _ door: ServedDoor) {}
}

extension AboutPublicDatabase: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> DatabaseCall {
        let path = try DatabasePath(context)
        try path.requirePublic()
        return DatabaseCall(request: request, context: context, session: try context.requireSession(), path: path)
    }
    func bodyCame(_ call: DatabaseCall, _ door: ServedDoor) {}
}

extension Managing: ServedAccess {
    /// Whoever manages a container may send more than a stranger: a schema.
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) async throws -> ManagementCall {
        let (container, environment) = try DatabasePath.place(context)
        try await door.requireManager(of: container, request)
        var context = context
        context.pass?.countAsKnown()
        context.maxUploadSize = door.maximumMessageSize
        return ManagementCall(request: request, context: context, container: container, environment: environment)
    }

    func bodyCame(_ call: ManagementCall, _ door: ServedDoor) async throws {
        try await door.requireManager(of: call.container, call.request)
    }
}

extension Operating: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) async throws -> OpenCall {
        try await door.requireOperator(request)
        return OpenCall(request: request, context: context)
    }
    /// The operator's token is good until the server stops.
    func bodyCame(_ call: OpenCall, _ door: ServedDoor) {}
}

extension OnOperatorListener: ServedAccess {
    func admit(_ request: Request, _ context: SealRequestContext, _ door: ServedDoor) throws -> OpenCall {
        try door.requireOnOperatorListener(request, context)
        return OpenCall(request: request, context: context)
    }
    /// The operator's token is good until the server stops.
    func bodyCame(_ call: OpenCall, _ door: ServedDoor) {}
}
