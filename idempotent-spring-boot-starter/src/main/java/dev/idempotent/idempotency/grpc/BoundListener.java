package dev.idempotent.idempotency.grpc;

import io.grpc.ServerCall;

/**
 * Hands what happens to a call on to the service, in the context of its run.
 */
final class BoundListener<Q> extends ServerCall.Listener<Q> {

	private final ServerCall.Listener<Q> service;

	private final CallRun<Q, ?> run;

	BoundListener(ServerCall.Listener<Q> service, CallRun<Q, ?> run) {
		this.service = service;
		this.run = run;
	}

	@Override
	public void onMessage(Q message) {
		within(() -> this.service.onMessage(message));
	}

	@Override
	public void onHalfClose() {
		within(this.service::onHalfClose);
	}

	@Override
	public void onCancel() {
		within(this.service::onCancel);
	}

	@Override
	public void onComplete() {
		within(this.service::onComplete);
	}

	@Override
	public void onReady() {
		within(this.service::onReady);
	}

	private void within(Runnable step) {
		this.run.within(() -> {
			step.run();
			return this;
		});
	}

}
