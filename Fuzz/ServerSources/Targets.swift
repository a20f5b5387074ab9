/// The targets that need the server, and with it all its packages: built apart from the core's.
let targets: [any FuzzTarget.Type] = [RequestTarget.self]
