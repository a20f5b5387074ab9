// swift-tools-version: 6.2
import PackageDescription

import class Foundation.ProcessInfo

var house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
// Continuous integration passes no warning; while one writes, a warning is no reason to stop.
if ProcessInfo.processInfo.environment["SEALKIT_STRICT"] == "1" { house.append(.treatAllWarnings(as: .error)) }
/// The core, and what judges on its behalf, handle secrets and hostile bytes: every unsafe construct is marked where it
/// stands.
let core: [SwiftSetting] = house + [.strictMemorySafety()]

/// Where there is a module CloudKit already, ours is not made: the product is there, as packages that name it have to
/// find one, and holds an empty target. `SEALKIT_CLOUDKIT=1` is for who builds for Linux on a Mac, where this manifest
/// is then read.
#if canImport(Darwin)
    let hasCloudKit = ProcessInfo.processInfo.environment["SEALKIT_CLOUDKIT"] == "1"
#else
    let hasCloudKit = true
#endif

let package = Package(
    name: "SealKit",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "SealKit", targets: ["SealKit"]),
        .library(name: "SealServer", targets: ["SealServer", "SealService", "SealStorage"]),
        .library(name: "SealKitTesting", targets: ["SealKitTesting"]),
        .library(name: "CloudKit", targets: [hasCloudKit ? "CloudKit" : "CloudKitOnApple"]),
        .executable(name: "sealkit", targets: ["sealkit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: [.defaults, "CommandLineArguments"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.20.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.40.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Floor 0
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CCurlShim", dependencies: ["CCurl"]),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(name: "CWebBundle"),
        .target(name: "CErrorTable"),
        .target(name: "CHeap"),
        .target(name: "SealSystem", dependencies: ["CHeap"], swiftSettings: house),
        // Floor 1
        .target(name: "SealPrimitives", dependencies: ["CSodium"], swiftSettings: core),
        .target(
            name: "SealWire",
            dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            exclude: [
                "sealkit.proto", "schema.proto", "query.proto", "push.proto", "public.proto", "limits.proto",
                "keys.proto",
                "shares.proto", "sharing.proto", "deletion.proto", "devices.proto", "restore.proto", "recovery.proto",
                "verification.proto", "uploads.proto", "operator.proto", "monitoring.proto",
            ],
            swiftSettings: house),
        // Floor 2
        .target(name: "SealStatements", dependencies: ["SealPrimitives"], swiftSettings: core),
        .target(name: "SealEnvelope", dependencies: ["SealPrimitives", "SealStatements"], swiftSettings: core),
        // SealHPKE here, SealWeb and SealWebLibrary above are no targets: Web/core/build alone compiles them, for a
        // browser, with a libsodium that the system need not have.
        .target(
            name: "SealCoding",
            dependencies: [
                "SealPrimitives", "SealStatements", "SealWire",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .target(name: "SealSchema", dependencies: ["SealPrimitives", "SealStatements"], swiftSettings: house),
        .target(
            name: "SealQuery",
            dependencies: [
                "SealPrimitives", "SealStatements", "SealWire", "SealCoding",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        // Floor 3
        .target(
            name: "SealClient", dependencies: ["SealPrimitives", "SealStatements", "SealEnvelope"], swiftSettings: core),
        .target(
            name: "SealVectorChecks", dependencies: ["SealPrimitives", "SealStatements", "SealEnvelope", "SealClient"],
            swiftSettings: core),
        .target(
            name: "SealStorage",
            dependencies: [
                "SealSystem", "CPQ",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: house),
        // Floor 4
        .target(
            name: "SealService",
            dependencies: [
                "SealSystem", "SealPrimitives", "SealStatements", "SealWire", "SealCoding", "SealSchema", "SealQuery",
                "SealStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        // Floor 5
        .target(
            name: "SealKit",
            dependencies: [
                "SealSystem", "SealPrimitives", "SealStatements", "SealEnvelope", "SealClient", "SealWire",
                "SealCoding",
                "SealQuery",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .target(
            name: "SealServer",
            dependencies: [
                "SealSystem", "SealPrimitives", "SealStatements", "SealWire", "SealCoding", "SealSchema", "SealQuery",
                "SealStorage",
                "SealService", "CCurl", "CCurlShim", "CWebBundle", "CErrorTable",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: house),
        // Floor 6
        hasCloudKit
            ? .target(name: "CloudKit", dependencies: ["SealKit"], swiftSettings: house)
            : .target(name: "CloudKitOnApple", swiftSettings: house),
        .target(
            name: "SealVectors",
            dependencies: [
                "CSodium", "SealPrimitives", "SealStatements", "SealEnvelope", "SealVectorChecks", "SealKit",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: house),
        .executableTarget(
            name: "sealkit",
            dependencies: [
                "SealSystem", "SealPrimitives", "SealStatements", "SealEnvelope", "SealWire", "SealCoding",
                "SealSchema",
                "SealQuery", "SealStorage", "SealService", "SealKit", "SealServer", "SealVectors",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house),
        .target(
            name: "SealKitTesting",
            dependencies: [
                "SealPrimitives", "SealStatements", "SealEnvelope", "SealWire", "SealCoding", "SealService", "SealKit",
                "SealServer", "SealLab",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .target(
            name: "SealLab", dependencies: ["SealKit", .product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: house),
        .executableTarget(
            name: "SealTorture",
            dependencies: [
                "SealLab", "SealKit", "SealService", "SealStorage", "SealQuery", "SealStatements", "SealPrimitives",
                "SealWire",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .executableTarget(
            name: "SealBench",
            dependencies: [
                "CSodium", "SealPrimitives", "SealStatements", "SealEnvelope", "SealKit", "SealLab", "SealWire",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ] + (hasCloudKit ? ["CloudKit"] : []),
            swiftSettings: house),
        // Tests
        .testTarget(name: "SealPrimitivesTests", dependencies: ["SealPrimitives"], swiftSettings: house),
        .testTarget(
            name: "SealStatementsTests", dependencies: ["SealPrimitives", "SealStatements"], swiftSettings: house),
        .testTarget(name: "SealSchemaTests", dependencies: ["SealSchema", "SealStatements"], swiftSettings: house),
        .testTarget(
            name: "SealQueryTests",
            dependencies: [
                "SealQuery", "SealStatements", "SealWire", "SealCoding",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "SealEnvelopeTests", dependencies: ["SealPrimitives", "SealStatements", "SealEnvelope", "SealKit"],
            swiftSettings: house),
        .testTarget(
            name: "SecretsTests",
            dependencies: [
                "SealKit", "SealStorage", "SealService", "SealServer", "SealClient", "SealEnvelope", "SealStatements",
                "SealPrimitives", "SealWire",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "SealClientTests",
            dependencies: [
                "SealPrimitives", "SealStatements", "SealEnvelope", "SealClient", "SealWire", "SealCoding", "SealKit",
                "SealLab", .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "SealVectorsTests", dependencies: ["SealVectors", "SealVectorChecks", "SealKit"],
            swiftSettings: house),
        .testTarget(
            name: "SealKitTests",
            dependencies: [
                "SealKit", "SealClient", "SealEnvelope", "SealStatements", "SealPrimitives", "SealCoding", "SealWire",
                "SealQuery",
                "sealkit", "SealKitTesting", "SealLab",
                "SealTorture", "CSodium", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "SealKitTestingTests",
            dependencies: [
                "SealKit", "SealService", "SealServer", "SealKitTesting",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "SealServerTests",
            dependencies: [
                "CPQ", "SealStorage", "SealService", "SealServer", "SealKit", "SealClient", "SealSystem",
                "SealEnvelope",
                "SealStatements", "SealPrimitives",
                "SealCoding", "SealWire", "SealSchema", "SealQuery", "SealLab",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: house),
    ]
        + (hasCloudKit
            ? [
                .testTarget(
                    name: "CloudKitTests",
                    dependencies: ["CloudKit", "SealKit", "SealKitTesting", "SealPrimitives", "SealStatements"],
                    // What CloudKit has deprecated is tested as well.
                    swiftSettings: house + [.treatWarning("DeprecatedDeclaration", as: .warning)]),
                // An app of CloudKit's: Examples/CloudKitNotes/README.md
                .target(
                    name: "CloudKitNotes", dependencies: ["CloudKit"], path: "Examples/CloudKitNotes/Notes",
                    swiftSettings: [.swiftLanguageMode(.v6)]),
                .executableTarget(
                    name: "notes", dependencies: ["CloudKit", "CloudKitNotes"],
                    path: "Examples/CloudKitNotes/Terminal", swiftSettings: [.swiftLanguageMode(.v6)]),
                .testTarget(
                    name: "CloudKitNotesTests", dependencies: ["CloudKitNotes", "CloudKit", "SealKitTesting"],
                    path: "Examples/CloudKitNotes/Tests", swiftSettings: [.swiftLanguageMode(.v6)]),
                // What each tutorial of the documentation ends with.
                .target(
                    name: "Tutorials", dependencies: ["SealKit", "CloudKit"],
                    path: "Documentation/Tutorials.docc/Resources",
                    sources: ["notes-5.swift", "sharing-5.swift", "sync-6.swift", "moving-5.swift"],
                    swiftSettings: [.swiftLanguageMode(.v6)]),
                .testTarget(
                    name: "TutorialsTests",
                    dependencies: ["Tutorials", "SealKit", "CloudKit", "SealLab", "SealKitTesting"],
                    path: "Documentation/Tests", swiftSettings: [.swiftLanguageMode(.v6)]),
            ]
            : [])
        + [
            // What an app sees: Tests/Consumer/README.md
            .target(
                name: "ConsumerSwift5", dependencies: ["SealKit"], path: "Tests/Consumer/Swift5",
                swiftSettings: [.swiftLanguageMode(.v5)]),
            .target(
                name: "ConsumerSwift6", dependencies: ["SealKit"], path: "Tests/Consumer/Swift6",
                swiftSettings: [.swiftLanguageMode(.v6)]),
            .target(
                name: "ConsumerMemberImports", dependencies: ["SealKit"], path: "Tests/Consumer/MemberImports",
                swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("MemberImportVisibility")]),
            .target(
                name: "ConsumerBystander",
                dependencies: [
                    "SealKit",
                    .product(name: "AsyncHTTPClient", package: "async-http-client"),
                    .product(name: "Crypto", package: "swift-crypto"),
                    .product(name: "Logging", package: "swift-log"),
                    .product(name: "NIOCore", package: "swift-nio"),
                ],
                path: "Tests/Consumer/Bystander", swiftSettings: [.swiftLanguageMode(.v6)]),
            // What an app of the sync engine looks like: Examples/Todo/README.md
            .target(
                name: "TodoList", dependencies: ["SealKit"], path: "Examples/Todo/TodoList",
                swiftSettings: [.swiftLanguageMode(.v6)]),
            .executableTarget(
                name: "todo",
                dependencies: [
                    "TodoList", "SealKit", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                ],
                path: "Examples/Todo/Terminal", swiftSettings: [.swiftLanguageMode(.v6)]),
            .testTarget(
                name: "TodoTests", dependencies: ["TodoList", "todo", "SealKit", "SealLab"],
                path: "Examples/Todo/Tests",
                swiftSettings: [.swiftLanguageMode(.v6)]),
            .testTarget(
                name: "ConsumerTests",
                dependencies: [
                    "SealKit", "SealKitTesting", "ConsumerSwift5", "ConsumerSwift6", "ConsumerMemberImports",
                    "ConsumerBystander",
                ],
                path: "Tests/Consumer/Tests", swiftSettings: house),
        ],
    swiftLanguageModes: [.v6]
)

// `make fuzz`: the core and the client alone, and what feeds them to libFuzzer. Nothing else is fetched or built, and
// without the variable the package has no such targets: they link only with the sanitizer.
switch ProcessInfo.processInfo.environment["SEALKIT_FUZZ"] {
case "1":
    let core = ["CSodium", "SealPrimitives", "SealStatements", "SealEnvelope", "SealClient"]
    package.dependencies = []
    package.products = []
    package.targets.removeAll { !core.contains($0.name) }
    package.targets += [
        .target(name: "CFuzz", path: "Fuzz/Sources/CFuzz"),
        .executableTarget(
            name: "SealFuzz",
            dependencies: ["CFuzz", "SealPrimitives", "SealStatements", "SealEnvelope", "SealClient"],
            path: "Fuzz/Sources/SealFuzz", swiftSettings: house),
    ]
case "server":
    // The server with its packages, and the core's harness and world once more.
    let kept = [
        "CSodium", "CCurl", "CCurlShim", "CPQ", "CWebBundle", "CErrorTable", "CHeap", "SealSystem", "SealPrimitives",
        "SealWire",
        "SealStatements",
        "SealEnvelope",
        "SealCoding",
        "SealSchema", "SealQuery", "SealStorage", "SealService", "SealServer",
    ]
    package.products = []
    package.targets.removeAll { !kept.contains($0.name) }
    package.targets += [
        .target(name: "CFuzz", path: "Fuzz/Sources/CFuzz"),
        .executableTarget(
            name: "SealServerFuzz",
            dependencies: [
                "CFuzz", "SealPrimitives", "SealStatements", "SealEnvelope", "SealWire", "SealCoding", "SealStorage",
                "SealService", "SealServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Fuzz", exclude: ["README.md", "fuzz.py", "Regressions", "Sources/CFuzz"],
            sources: ["Sources/SealFuzz/Harness", "Sources/SealFuzz/World", "ServerSources"], swiftSettings: house),
    ]
default: break
}
