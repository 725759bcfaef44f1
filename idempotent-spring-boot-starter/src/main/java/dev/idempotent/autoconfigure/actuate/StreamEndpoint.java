package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;

import dev.idempotent.stream.StreamInspector.GroupBacklog;
import dev.idempotent.stream.StreamInspector.GroupDetails;
import dev.idempotent.stream.StreamInspector.GroupMember;
import dev.idempotent.stream.RedisStreamListenerContainer;
import dev.idempotent.stream.StreamInspector;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The actuator's endpoint {@code stream}: the consumer groups that this process listens
 * to. Shows neither payloads nor headers.
 */
@Endpoint(id = "stream")
final class StreamEndpoint {

	private final RedisStreamListenerContainer container;

	private final List<String> policies;

	/**
	 * Creates the endpoint.
	 * @param container the container of the listeners
	 * @param policies the names of the application's redelivery policies
	 */
	StreamEndpoint(RedisStreamListenerContainer container, List<String> policies) {
		this.container = container;
		this.policies = policies;
	}

	@ReadOperation
	Overview overview() {
		StreamInspector inspector = this.container.inspector();
		Duration unreachableFor = this.container.unreachableFor();
		return new Overview(this.container.isRunning(), (unreachableFor != null) ? unreachableFor.toString() : null,
				new Redelivery(this.container.maxDeliveries(), this.container.minIdleTime().toString(), this.policies),
				(inspector != null) ? inspector.details().stream().map(Group::of).toList() : List.of());
	}

	/**
	 * The state of the container.
	 *
	 * @param running whether it runs
	 * @param unreachableFor how long Redis has been unreachable for it, or {@code null}
	 * @param redelivery when a failed entry is delivered again
	 * @param groups the consumer groups
	 */
	record Overview(boolean running, @Nullable String unreachableFor, Redelivery redelivery, List<Group> groups) {
	}

	record Redelivery(int maxDeliveries, String minIdleTime, List<String> policies) {
	}

	/**
	 * A consumer group. Numbers are {@code null} where they are not known.
	 *
	 * @param problem why they are not known, or {@code null}
	 */
	record Group(String stream, String group, int concurrency, @Nullable Long length, @Nullable Long pending,
			@Nullable Long lag, @Nullable String lastDeliveredId, Consumers consumers, DeadLetters deadLetters,
			@Nullable String problem) {

		static Group of(GroupDetails details) {
			GroupBacklog backlog = details.backlog();
			return new Group(details.group().stream(), details.group().group(), details.concurrency(), details.length(),
					(backlog != null) ? backlog.pending() : null, (backlog != null) ? backlog.lag() : null,
					(backlog != null) ? backlog.lastDeliveredId() : null,
					new Consumers((backlog != null) ? backlog.consumers() : null,
							details.consumers().stream().map(Consumer::of).toList()),
					new DeadLetters(details.deadStream(), details.deadLength()), details.problem());
		}

	}

	/**
	 * The consumers of a group.
	 *
	 * @param total their number
	 * @param listed those with the most pending entries, up to 100
	 */
	record Consumers(@Nullable Long total, List<Consumer> listed) {
	}

	record Consumer(String name, long pending, String idle) {

		static Consumer of(GroupMember member) {
			return new Consumer(member.name(), member.pending(), Duration.ofMillis(member.idleMillis()).toString());
		}

	}

	record DeadLetters(String stream, @Nullable Long length) {
	}

}
