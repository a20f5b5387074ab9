import Bystander
import NotesSwift5
import NotesSwift6

let title = NotesSwift5.Note(title: "Plans", pages: 3).record["title"] as? String
let pages = NotesSwift6.Note(title: "Plans", pages: 3).record["pages"] as? Int
print(title ?? "", pages ?? 0, seesCloudKit)
