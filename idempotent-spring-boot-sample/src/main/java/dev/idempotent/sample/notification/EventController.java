package dev.idempotent.sample.notification;

import java.util.List;
import java.util.UUID;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class EventController {

	private final Notifications notifications;

	EventController(Notifications notifications) {
		this.notifications = notifications;
	}

	@GetMapping("/api/events")
	List<HandledEvent> about(@RequestParam UUID orderId) {
		return this.notifications.handled(orderId);
	}

}
