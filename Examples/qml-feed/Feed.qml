import QtQuick

// A list with one row for each item. Rows are reused.
Window {
    id: window
    required property list<string> items

    width: 480
    height: 720
    visible: true
    title: "feedimg"

    ListView {
        anchors.fill: parent
        model: window.items
        reuseItems: true
        delegate: Rectangle {
            required property string modelData
            readonly property var item: JSON.parse(modelData)

            width: ListView.view.width
            height: 240
            // The placeholder shows until the image has loaded, and after a failure.
            color: item.placeholder?.color ?? "#e0e0e0"

            Image {
                anchors.fill: parent
                source: "image://feedimg/" + encodeURIComponent(parent.modelData)
                sourceSize: Qt.size(width, height)
                fillMode: Image.PreserveAspectFit
                asynchronous: true
            }
        }
    }
}
