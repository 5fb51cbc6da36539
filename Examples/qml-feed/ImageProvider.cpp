#include "ImageProvider.h"

#include <QUrl>
#include <feedimg-decoding.h>

namespace {

QString lastError() { return QString::fromUtf8(feedimg_error_last()->message); }

/// One load for one QML image. QML creates, cancels and deletes it on its own thread for images.
class Response : public QQuickImageResponse {
public:
    Response(feedimg_loader *loader, const QByteArray &json, const QSize &size)
    {
        feedimg_pixel_request pixels = FEEDIMG_PIXEL_REQUEST_INIT;
        // QML leaves out a side that follows from the other one.
        pixels.width = qMax(size.width(), 0);
        pixels.height = qMax(size.height(), 0);
        feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
        options.pixels = &pixels;
        feedimg_item *item = nullptr;
        if (feedimg_item_new(&item, json.constData()) || feedimg_loader_load(&load, loader, item, &options, loaded, this))
            end(lastError(), QImage());
        feedimg_item_free(item);
    }

    // No callback runs after this call, so `this` is not used afterwards.
    ~Response() override { feedimg_load_free(load); }

    QQuickTextureFactory *textureFactory() const override
    {
        return QQuickTextureFactory::textureFactoryForImage(image);
    }

    QString errorString() const override { return error; }

    /// Stops the download unless another image needs it. QML waits for `finished` also after this call.
    void cancel() override
    {
        feedimg_load_cancel(load);
        end(QStringLiteral("cancelled"), QImage());
    }

private:
    feedimg_load *load = nullptr;
    QImage image;
    QString error;
    bool hasEnded = false;

    /// Runs on the thread of the library.
    static void loaded(const feedimg_error *failure, feedimg_image *loaded, void *payload)
    {
        QString error;
        QImage image;
        feedimg_pixels pixels = FEEDIMG_PIXELS_INIT;
        if (failure) {
            error = QString::fromUtf8(failure->message);
        } else if (feedimg_image_pixels(&pixels, loaded) == 1) {
            // The QImage owns the handle, so the pixels are not copied.
            image = QImage(pixels.data, int(pixels.width), int(pixels.height), qsizetype(pixels.stride),
                           pixels.is_opaque ? QImage::Format_RGB32 : QImage::Format_ARGB32_Premultiplied,
                           [](void *handle) { feedimg_image_free(static_cast<feedimg_image *>(handle)); }, loaded);
        } else {
            error = QStringLiteral("feedimg cannot decode this type of image");
            feedimg_image_free(loaded);
        }
        static_cast<Response *>(payload)->end(error, image);
    }

    /// Queues the end of the load on the thread of QML, which connects `finished` only after it has the response.
    void end(const QString &why, const QImage &pixels)
    {
        const auto finish = [this, why, pixels] {
            if (hasEnded) return;
            hasEnded = true;
            error = why;
            image = pixels;
            emit finished();
        };
        QMetaObject::invokeMethod(this, finish, Qt::QueuedConnection);
    }
};

} // namespace

ImageProvider::ImageProvider()
{
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    options.decoder = feedimg_codecs();
    if (feedimg_loader_new(&loader, &options)) qFatal("%s", feedimg_error_last()->message);
}

ImageProvider::~ImageProvider() { feedimg_loader_free(loader); }

QQuickImageResponse *ImageProvider::requestImageResponse(const QString &item, const QSize &requestedSize)
{
    return new Response(loader, QUrl::fromPercentEncoding(item.toUtf8()).toUtf8(), requestedSize);
}
