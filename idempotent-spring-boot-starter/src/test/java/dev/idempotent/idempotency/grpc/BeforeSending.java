package dev.idempotent.idempotency.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * Does something just before a response leaves.
 */
final class BeforeSending implements ServerInterceptor {

	private final Runnable step;

	BeforeSending(Runnable step) {
		this.step = step;
	}

	@Override
	public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers,
			ServerCallHandler<Q, R> next) {
		return next.startCall(new SimpleForwardingServerCall<>(call) {
			@Override
			public void sendMessage(R message) {
				BeforeSending.this.step.run();
				super.sendMessage(message);
			}
		}, headers);
	}

}
