import CloudKit

func locationSorts() {
    let place = CLLocation(latitude: 52, longitude: 13)
    let sort: CKLocationSortDescriptor = CKLocationSortDescriptor(key: "place", relativeLocation: place)
    let _: CLLocation = sort.relativeLocation
}
