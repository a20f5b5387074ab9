// swift-tools-version: 6.0
import PackageDescription

// An app with two libraries that are written for Apple's CloudKit, one in each language mode. They know nothing of the
// alias, which the app gives to both, and who does not depend on the module sees no CloudKit.
let alias = ["CloudKit": "SealCloudKit"]

let package = Package(
    name: "CloudKitConsumer",
    dependencies: [.package(path: "Swift5"), .package(path: "Swift6")],
    targets: [
        .target(name: "Bystander", path: "Bystander"),
        .executableTarget(
            name: "NotesApp",
            dependencies: [
                .product(name: "NotesSwift5", package: "swift5", moduleAliases: alias),
                .product(name: "NotesSwift6", package: "swift6", moduleAliases: alias), "Bystander",
            ], path: "App"),
    ]
)
