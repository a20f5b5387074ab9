// swift-tools-version: 6.0
import PackageDescription

// An app that depends on this package as its README says, by the alias: what is written for Apple's CloudKit compiles
// in both language modes, a library in between knows nothing of the alias, and who does not depend on it sees no
// CloudKit.
let cloudKit = Target.Dependency.product(
    name: "CloudKit", package: "SealKit", moduleAliases: ["CloudKit": "SealCloudKit"],
    condition: .when(platforms: [.linux]))

let package = Package(
    name: "CloudKitConsumer",
    dependencies: [.package(name: "SealKit", path: "../../..")],
    targets: [
        .target(
            name: "NotesSwift5", dependencies: [cloudKit], path: "Swift5", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(
            name: "NotesSwift6", dependencies: [cloudKit], path: "Swift6", swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(name: "Bystander", path: "Bystander"),
        .executableTarget(
            name: "NotesApp", dependencies: ["NotesSwift5", "NotesSwift6", "Bystander"], path: "App"),
    ]
)
