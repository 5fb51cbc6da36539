// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation
// The names and the documentation are those of `feedimg.h`.

public import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline

/// A slot of the C interface.
final class SlotHandle: Sendable {
  let slot: ImageSlot
  let operation: Operation

  init(_ loader: LoaderHandle, _ callback: Callback<feedimg_presentation_callback>?) {
    let (slot, callbacks) = (loader.loader.slot(), loader.callbacks)
    let owner = callbacks.register()
    let task = callback.map { callback in
      PipelineActor.task { [presentations = slot.presentations, weak slot] in
        for await _ in presentations {
          // The callback reads the slot when it runs, so that it never shows an earlier item.
          callbacks.post(owner, isSignal: true) { [weak slot] in
            guard let presentation = slot?.presentation else { return }
            callback.function(handle(PresentationHandle(presentation)), callback.payload)
          }
        }
      }
    }
    self.slot = slot
    operation = Operation(callbacks, owner) {
      task?.cancel()
      slot.clear()
    }
  }
}

@c @implementation
public func feedimg_slot_new(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ loader: OpaquePointer?,
  _ callback: feedimg_presentation_callback?,
  _ payload: UnsafeMutableRawPointer?
) -> CInt {
  attempt { () throws(CallError) in
    let out = try given(out, "out")
    let loader = try given(loader, "loader", as: LoaderHandle.self)
    out.pointee = handle(SlotHandle(loader, Callback(callback, payload)))
  }
}

@c @implementation
public func feedimg_slot_free(_ slot: OpaquePointer?) { release(slot, as: SlotHandle.self)?.operation.end() }

@c @implementation
public func feedimg_slot_show(
  _ slot: OpaquePointer?,
  _ item: OpaquePointer?,
  _ options: UnsafePointer<feedimg_load_options>?
) -> CInt {
  attempt { () throws(CallError) in
    let slot = try given(slot, "slot", as: SlotHandle.self).slot
    let item = try given(item, "item", as: ItemHandle.self).item
    let options = try LoadOptions(options)
    guard options.cache == .default, options.policy == nil, options.progress == nil else {
      throw CallError(
        FEEDIMG_ERROR_ARGUMENT,
        "a slot accepts no cache policy, no other policy and no progress"
      )
    }
    slot.show(item, pixels: options.pixels, facts: options.facts, priority: options.priority)
  }
}

@c @implementation
public func feedimg_slot_clear(_ slot: OpaquePointer?) { object(slot, as: SlotHandle.self)?.slot.clear() }

@c @implementation
public func feedimg_slot_upgrade(_ slot: OpaquePointer?) { object(slot, as: SlotHandle.self)?.slot.upgrade() }

@c @implementation
public func feedimg_slot_set_priority(_ slot: OpaquePointer?, _ priority: feedimg_priority) {
  guard let slot = object(slot, as: SlotHandle.self)?.slot, let priority = try? LoadPriority(priority) else {
    return
  }
  slot.priority = priority
}

@c @implementation
public func feedimg_slot_presentation(
  _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ slot: OpaquePointer?
) -> CInt {
  attemptCount { () throws(CallError) in
    let out = try given(out, "out")
    guard let presentation = try given(slot, "slot", as: SlotHandle.self).slot.presentation else { return 0 }
    out.pointee = handle(PresentationHandle(presentation))
    return 1
  }
}
