#pragma once

#include <QQuickAsyncImageProvider>
#include <feedimg.h>

/// Makes the images of `image://feedimg/ITEM` for QML, where ITEM is the JSON of an item, encoded for URLs.
///
/// feedimg decides which image of the item to load, and scales it to `sourceSize`. One provider serves a program.
class ImageProvider : public QQuickAsyncImageProvider {
public:
    /// Makes the loader. Ends the program with a message if the options or settings are invalid.
    ImageProvider();
    ~ImageProvider() override;

    QQuickImageResponse *requestImageResponse(const QString &item, const QSize &requestedSize) override;

private:
    feedimg_loader *loader = nullptr;
};
