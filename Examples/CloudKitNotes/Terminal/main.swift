import CloudKit
import CloudKitNotes

/// `notes`: one command a call, and the file of the notes in a folder that stands for a device.
let usage = """
    notes [--folder FOLDER] list | add TEXT [OWNER] | edit NAME TEXT | remove NAME | watch
    notes [--folder FOLDER] whoami | share PERSON [--read-only] | people | unshare | accept URL | leave OWNER
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

/// By the first letters, where they are one's alone.
func only<Found>(_ prefix: String, of all: [Found], _ name: (Found) -> String) -> Found {
    let found = all.filter { name($0).lowercased().hasPrefix(prefix.lowercased()) }
    guard let one = found.first, found.count == 1 else { fail("\(prefix) is not the beginning of one name") }
    return one
}

func note(_ prefix: String, in notes: Notes) async -> NoteID { only(prefix, of: await notes.all.map(\.id), \.name) }
func owner(_ prefix: String, in notes: Notes) async -> String { only(prefix, of: await notes.others) { $0 } }

func show(_ notes: Notes) async {
    for (id, note) in await notes.all {
        print("\(id.name.prefix(8))  \(note.text)" + (id.notebook == Notes.own ? "" : "  (\(id.notebook.prefix(8)))"))
    }
}

func show(_ people: [Notes.Person]) {
    for person in people {
        let right = person.isOwner ? "owner" : person.mayEdit ? "edits" : "reads"
        print("\(person.name)  \(right)\(person.hasAccepted ? "" : ", invited")")
    }
}

do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let notes = try Notes(file: folder.appendingPathComponent("notes.json"))
    let container = CKContainer(identifier: Notes.containerIdentifier)
    let words = Array(arguments.dropFirst())
    switch (arguments.first, words.count) {
    case ("list", 0): break
    case ("add", 1): try await notes.add(words[0])
    case ("add", 2): try await notes.add(words[0], to: await owner(words[1], in: notes))
    case ("edit", 2): try await notes.edit(await note(words[0], in: notes), words[1])
    case ("remove", 1): try await notes.remove(await note(words[0], in: notes))
    case ("whoami", 0):
        print(try await container.userRecordID().recordName)
        exit(0)
    case ("share", 1),
        ("share", 2) where words.last == "--read-only":
        let url = try await notes.share(with: words[0], toEdit: words.count == 1, in: container)
        print(url?.absoluteString ?? "Only the notes' owner, and administrators, have the URL.")
        exit(0)
    case ("people", 0):
        show(try await notes.people(in: container))
        exit(0)
    case ("unshare", 0): try await notes.stopSharing(in: container)
    case ("accept", 1):
        guard let url = URL(string: words[0]) else { fail("\(words[0]) is no URL") }
        print("Notes of \(try await notes.accept(url, in: container))")
    case ("leave", 1): try await notes.leave(await owner(words[0], in: notes), in: container)
    case ("watch", 0):
        await notes.start(container, automatically: true)
        for await _ in await notes.changes() {
            print("--")
            await show(notes)
            for problem in await notes.takeProblems() { print("! \(problem)") }
        }
    default: fail(usage)
    }
    await notes.start(container, automatically: false)
    do {
        for problem in try await notes.sync() { print("! \(problem)") }
    } catch {
        // It is kept, and sent the next time.
        FileHandle.standardError.write(Data("Not synced: \(error.localizedDescription)\n".utf8))
    }
    await show(notes)
} catch {
    fail("\((error as? CKError)?.localizedDescription ?? "\(error)")")
}
