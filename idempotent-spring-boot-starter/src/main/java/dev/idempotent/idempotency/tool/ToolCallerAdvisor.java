package dev.idempotent.idempotency.tool;

import java.util.function.Supplier;

import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;

/**
 * Hands the caller on to the tools that {@code ChatClient.stream()} calls, on threads
 * that do not know the request. The caller is resolved on the thread that subscribes.
 * Clients that are beans, or are built with the {@code ChatClient.Builder} bean, have
 * this advisor; add the bean of this type to the advisors of others.
 */
public final class ToolCallerAdvisor implements StreamAdvisor {

	private final Supplier<ToolCalls> calls;

	/**
	 * Creates an advisor.
	 * @param calls supplies the settings of all tools, at the first stream
	 */
	public ToolCallerAdvisor(Supplier<ToolCalls> calls) {
		this.calls = calls;
	}

	@Override
	public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
		ToolCalls.Origin origin = origin();
		return chain.nextStream(request).contextWrite((context) -> context.put(ToolCalls.Origin.class, origin));
	}

	/**
	 * A stream that calls no idempotent tool needs no caller.
	 */
	private ToolCalls.Origin origin() {
		try {
			return this.calls.get().origin();
		}
		catch (RuntimeException ex) {
			return new ToolCalls.Origin("", null, true, ex);
		}
	}

	@Override
	public String getName() {
		return getClass().getSimpleName();
	}

	/**
	 * Before all advisors that continue on another thread.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
