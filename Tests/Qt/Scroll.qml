import QtQuick

// Scrolls a feed to its end and back, and saves each page: qml-feed ITEMS.jsonl Scroll.qml feedimg|qml scroll|fling FOLDER
Window {
    id: window
    required property list<string> items
    readonly property bool usesFeedimg: Qt.application.arguments[3] === "feedimg"
    readonly property bool flings: Qt.application.arguments[4] === "fling"
    readonly property string folder: Qt.application.arguments[5]
    readonly property int rows: 4
    readonly property int pages: items.length / rows
    property int step: 0
    property int grabbed: -1

    width: 480
    height: 960
    visible: true

    function page() {
        return step < pages ? step : 2 * pages - 2 - step
    }

    function show() {
        list.positionViewAtIndex(page() * rows, ListView.Beginning)
        list.forceLayout()
        check()
    }

    // Saves the page once all its images have ended, and then shows the next one.
    function check() {
        for (let row = 0; row < rows; row++) {
            const item = list.itemAtIndex(page() * rows + row)
            if (!item || item.status === Image.Loading || item.status === Image.Null)
                return
        }
        if (grabbed === step)
            return
        grabbed = step
        list.grabToImage(result => {
            if (!result.saveToFile(`${folder}/${step}-${page()}.png`))
                Qt.exit(2)
            step++
            if (step === 2 * pages - 1)
                Qt.quit()
            else
                show()
        })
    }

    ListView {
        id: list
        anchors.fill: parent
        model: window.items
        reuseItems: true
        cacheBuffer: 0
        delegate: Rectangle {
            required property string modelData
            readonly property var item: JSON.parse(modelData)
            readonly property int status: image.status

            width: 480
            height: 240
            color: item.placeholder.color

            Image {
                id: image
                anchors.fill: parent
                source: window.usesFeedimg ? "image://feedimg/" + encodeURIComponent(parent.modelData)
                                           : parent.item.originalImage
                sourceSize: Qt.size(480, 240)
                asynchronous: true
                onStatusChanged: Qt.callLater(window.check)
            }
        }
    }

    Component.onCompleted: {
        if (flings) {
            // The images of all pages start, and QML cancels most of them.
            for (let number = 0; number < pages; number++) {
                list.positionViewAtIndex(number * rows, ListView.Beginning)
                list.forceLayout()
            }
        }
        show()
    }
}
