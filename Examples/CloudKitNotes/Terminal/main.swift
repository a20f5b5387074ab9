import CloudKit
import CloudKitNotes

/// `notes`: one command a call, and the file of the notes in a folder that stands for a device.
let usage = """
    notes [--folder FOLDER] list | add TEXT | edit NAME TEXT | remove NAME | watch
    """

func fail(_ reason: String) -> Never {
    FileHandle.standardError.write(Data((reason + "\n").utf8))
    exit(1)
}

var arguments = Array(CommandLine.arguments.dropFirst())
var folder = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".cloudkit-notes")
if arguments.first == "--folder", arguments.count > 1 {
    folder = URL(fileURLWithPath: arguments[1])
    arguments.removeFirst(2)
}

/// By its first letters, where they are one note's.
func name(_ prefix: String, in notes: Notes) async -> String {
    let names = await notes.all.map(\.name).filter { $0.lowercased().hasPrefix(prefix.lowercased()) }
    guard let name = names.first, names.count == 1 else { fail("\(prefix) is not the beginning of one note's name") }
    return name
}

func show(_ notes: Notes) async {
    for (name, note) in await notes.all { print("\(name.prefix(8))  \(note.text)") }
}

do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let notes = try Notes(file: folder.appendingPathComponent("notes.json"))
    let container = CKContainer(identifier: Notes.containerIdentifier)
    let words = arguments.dropFirst()
    switch (arguments.first, words.count) {
    case ("list", 0): break
    case ("add", 1): try await notes.add(arguments[1])
    case ("edit", 2): try await notes.edit(await name(arguments[1], in: notes), arguments[2])
    case ("remove", 1): try await notes.remove(await name(arguments[1], in: notes))
    case ("watch", 0):
        await notes.start(container.privateCloudDatabase, automatically: true)
        for await _ in await notes.changes() {
            print("--")
            await show(notes)
            for problem in await notes.takeProblems() { print("! \(problem)") }
        }
    default: fail(usage)
    }
    await notes.start(container.privateCloudDatabase, automatically: false)
    do {
        for problem in try await notes.sync() { print("! \(problem)") }
    } catch {
        // It is kept, and sent the next time.
        FileHandle.standardError.write(Data("Not synced: \(error.localizedDescription)\n".utf8))
    }
    await show(notes)
} catch {
    fail("\(error)")
}
