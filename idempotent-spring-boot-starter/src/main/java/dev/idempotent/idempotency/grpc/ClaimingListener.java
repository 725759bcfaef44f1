package dev.idempotent.idempotency.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.claim.Claimant;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the key of a call once its message is there, and then lets the service run,
 * replays its answer, or refuses the call.
 */
final class ClaimingListener<Q, R> extends ServerCall.Listener<Q> {

	private static final Logger logger = LoggerFactory.getLogger(ClaimingListener.class);

	private final ServerCall<Q, R> call;

	private final Metadata headers;

	private final ServerCallHandler<Q, R> service;

	private final Function<Q, Claimant> claimants;

	private final List<Q> messages = new ArrayList<>(1);

	private ServerCall.@Nullable Listener<Q> run;

	ClaimingListener(ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> service,
			Function<Q, Claimant> claimants) {
		this.call = call;
		this.headers = headers;
		this.service = service;
		this.claimants = claimants;
		// One more than there should be, to learn whether there is.
		call.request(2);
	}

	@Override
	public void onMessage(Q message) {
		this.messages.add(message);
	}

	@Override
	public void onHalfClose() {
		if (this.messages.size() != 1) {
			// Which the service's side of gRPC refuses.
			begin(this.service.startCall(this.call, this.headers));
			return;
		}
		Claimant claimant = this.claimants.apply(this.messages.get(0));
		Claim claim = claim(claimant);
		if (claim != null) {
			answer(claimant, claim).run();
		}
	}

	private Runnable answer(Claimant claimant, Claim claim) {
		return claim.fold(
				(acquired) -> () -> begin(new CallRun<>(this.call, claimant).start(this.service, this.headers)),
				(pending) -> () -> refuse(Status.ABORTED,
						"The first call with this idempotency-key still runs. Send it again after a moment."),
				(completed) -> () -> KeptAnswer.replay(completed.response(), this.call),
				(mismatched) -> () -> refuse(Status.INVALID_ARGUMENT,
						"This idempotency-key was used for another call. Send a new call with a new key."));
	}

	@Override
	public void onCancel() {
		if (this.run != null) {
			this.run.onCancel();
		}
	}

	@Override
	public void onComplete() {
		if (this.run != null) {
			this.run.onComplete();
		}
	}

	@Override
	public void onReady() {
		if (this.run != null) {
			this.run.onReady();
		}
	}

	private void begin(ServerCall.Listener<Q> listener) {
		this.run = listener;
		this.messages.forEach(listener::onMessage);
		listener.onHalfClose();
	}

	/**
	 * Claims the key.
	 * @return the outcome, or {@code null} if the call has been refused
	 */
	private @Nullable Claim claim(Claimant claimant) {
		try {
			return claimant.claim();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			refuse(Status.UNAVAILABLE, "The idempotency-key could not be claimed; nothing was done. Send it again.");
		}
		catch (IdempotencyStoreException ex) {
			logger.error("A call was refused because its key cannot be used", ex);
			refuse(Status.INTERNAL, "The idempotency-key cannot be used; nothing was done. Tell the operator.");
		}
		return null;
	}

	private void refuse(Status status, String description) {
		this.call.close(status.withDescription(description), new Metadata());
	}

}
