// swift-tools-version: 6.0
import PackageDescription

// A package by a path is named after its folder.
let sealKit = Context.packageDirectory.split(separator: "/").dropLast(4).last?.lowercased() ?? "sealkit"

let package = Package(
    name: "NotesSwift5",
    products: [.library(name: "NotesSwift5", targets: ["NotesSwift5"])],
    dependencies: [.package(path: "../../../..")],
    targets: [
        .target(
            name: "NotesSwift5",
            dependencies: [
                .product(name: "CloudKit", package: sealKit, condition: .when(platforms: [.linux]))
            ], path: ".", swiftSettings: [.swiftLanguageMode(.v5)])
    ]
)
