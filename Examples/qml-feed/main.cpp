// Shows the images of a feed: qml-feed ITEMS.jsonl [INTERFACE.qml]
#include "ImageProvider.h"

#include <QFile>
#include <QGuiApplication>
#include <QQmlApplicationEngine>

int main(int count, char **arguments)
{
    QGuiApplication application(count, arguments);
    QFile file(application.arguments().value(1));
    if (!file.open(QIODevice::ReadOnly)) qFatal("usage: qml-feed ITEMS.jsonl [INTERFACE.qml]");
    const QString text = QString::fromUtf8(file.readAll());

    QQmlApplicationEngine engine;
    engine.addImageProvider(QStringLiteral("feedimg"), new ImageProvider);
    engine.setInitialProperties({{QStringLiteral("items"), text.split(u'\n', Qt::SkipEmptyParts)}});
    const QString path = application.arguments().value(2);
    engine.load(path.isEmpty() ? QUrl(QStringLiteral("qrc:/Feed.qml")) : QUrl::fromLocalFile(path));
    return engine.rootObjects().isEmpty() ? 1 : application.exec();
}
