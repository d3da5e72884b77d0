/* gameboy_rom.c - a small free game for Game Boy emulators. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/gameboy_rom.h"

#include <string.h>

#define VECTOR_VBLANK 0x0040 /* where the processor goes at each vertical blank */
#define ENTRY         0x0100
#define TITLE         0x0134
#define HEADER_SUM    0x014D
#define ROM_SUM       0x014E
#define PROGRAM       0x0150

/*
 * Lamps and moths: the player walks over a wrapping map of 256 x 256 pixels, moths fly
 * around, and lamps can be left behind on a map that wears away. It reads the joypad,
 * moves 24 moths and rebuilds all their sprites in each frame, as real games do.
 *
 * Each row is one instruction: bytes, address, label, assembly language. Memory:
 *   C000 x, C001 y of the player; C002 buttons; C003, C004 random; C005 frames;
 *   C006 x, C007 y of the camera; C100.. moths; C200.. sprites for the screen
 */
/* clang-format off */
static const uint8_t program[] = {
    /* The screen goes dark before its memory is written: legal in the blank only. */
    0xF3,             /* 0150 start:      di */
    0x31, 0xFE, 0xFF, /* 0151             ld sp,$FFFE */
    0xF0, 0x44,       /* 0154 wait_blank: ldh a,($44) ; line being drawn */
    0xFE, 0x90,       /* 0156             cp $90 ; first line of the blank */
    0x38, 0xFA,       /* 0158             jr c,wait_blank */
    0xAF,             /* 015A             xor a */
    0xE0, 0x40,       /* 015B             ldh ($40),a ; screen off */
    /* Work memory C000..C2FF starts at zero. */
    0x21, 0x00, 0xC0, /* 015D             ld hl,$C000 */
    0x01, 0x00, 0x03, /* 0160             ld bc,$0300 */
    0xAF,             /* 0163 clear:      xor a */
    0x22,             /* 0164             ld (hl+),a */
    0x0B,             /* 0165             dec bc */
    0x78,             /* 0166             ld a,b */
    0xB1,             /* 0167             or c */
    0x20, 0xF9,       /* 0168             jr nz,clear */
    /* Pictures of the tiles. */
    0x21, 0x00, 0x80, /* 016A             ld hl,$8000 */
    0x11, 0x33, 0x03, /* 016D             ld de,tiles */
    0x06, 0x70,       /* 0170             ld b,$70 */
    0x1A,             /* 0172 copy_tiles: ld a,(de) */
    0x22,             /* 0173             ld (hl+),a */
    0x13,             /* 0174             inc de */
    0x05,             /* 0175             dec b */
    0x20, 0xFA,       /* 0176             jr nz,copy_tiles */
    /* The map, 32 x 32 tiles: diagonal bands of four textures. */
    0x21, 0x00, 0x98, /* 0178             ld hl,$9800 */
    0x7D,             /* 017B fill_map:   ld a,l */
    0xCB, 0x37,       /* 017C             swap a */
    0x0F,             /* 017E             rrca */
    0xAC,             /* 017F             xor h */
    0x85,             /* 0180             add a,l */
    0xE6, 0x03,       /* 0181             and $03 */
    0x22,             /* 0183             ld (hl+),a */
    0x7C,             /* 0184             ld a,h */
    0xFE, 0x9C,       /* 0185             cp $9C */
    0x20, 0xF2,       /* 0187             jr nz,fill_map */
    /* The routine that copies sprites must run from high memory. */
    0x21, 0x29, 0x03, /* 0189             ld hl,copy_oam */
    0x0E, 0x80,       /* 018C             ld c,$80 */
    0x06, 0x0A,       /* 018E             ld b,$0A */
    0x2A,             /* 0190 copy_code:  ld a,(hl+) */
    0xE2,             /* 0191             ld (c),a */
    0x0C,             /* 0192             inc c */
    0x05,             /* 0193             dec b */
    0x20, 0xFA,       /* 0194             jr nz,copy_code */
    /* The player's place and the seed of the random numbers. */
    0x3E, 0x80,       /* 0196             ld a,$80 */
    0xEA, 0x00, 0xC0, /* 0198             ld ($C000),a ; x in the world, wraps */
    0xEA, 0x01, 0xC0, /* 019B             ld ($C001),a ; y */
    0x3E, 0xE1,       /* 019E             ld a,$E1 */
    0xEA, 0x03, 0xC0, /* 01A0             ld ($C003),a ; random, low byte */
    0x3E, 0xAC,       /* 01A3             ld a,$AC */
    0xEA, 0x04, 0xC0, /* 01A5             ld ($C004),a ; random, high byte */
    /* 24 moths: x, y, speed in x, speed in y. */
    0x21, 0x00, 0xC1, /* 01A8             ld hl,$C100 */
    0x0E, 0x18,       /* 01AB             ld c,$18 */
    0xCD, 0x15, 0x03, /* 01AD place_moth: call random */
    0x22,             /* 01B0             ld (hl+),a */
    0xCD, 0x15, 0x03, /* 01B1             call random */
    0x22,             /* 01B4             ld (hl+),a */
    0x3E, 0x01,       /* 01B5             ld a,$01 */
    0x22,             /* 01B7             ld (hl+),a */
    0x22,             /* 01B8             ld (hl+),a */
    0x0D,             /* 01B9             dec c */
    0x20, 0xF1,       /* 01BA             jr nz,place_moth */
    0x3E, 0xE4,       /* 01BC             ld a,$E4 */
    0xE0, 0x48,       /* 01BE             ldh ($48),a ; palettes of the sprites */
    0x3E, 0x1B,       /* 01C0             ld a,$1B */
    0xE0, 0x49,       /* 01C2             ldh ($49),a */
    0x3E, 0x93,       /* 01C4             ld a,$93 */
    0xE0, 0x40,       /* 01C6             ldh ($40),a ; screen, sprites and map on */
    0xAF,             /* 01C8             xor a */
    0xE0, 0x0F,       /* 01C9             ldh ($0F),a */
    0x3C,             /* 01CB             inc a */
    0xE0, 0xFF,       /* 01CC             ldh ($FF),a ; wake up at the blank */
    0xFB,             /* 01CE             ei */
    /* One turn of this loop is one frame. */
    0xCD, 0xE9, 0x01, /* 01CF frame:      call read_pad */
    0xCD, 0x0D, 0x02, /* 01D2             call move_player */
    0xCD, 0x47, 0x02, /* 01D5             call move_moths */
    0xCD, 0x8D, 0x02, /* 01D8             call draw_moths */
    0x76,             /* 01DB             halt */
    0x00,             /* 01DC             nop */
    0xCD, 0x80, 0xFF, /* 01DD             call $FF80 ; sprites */
    0xCD, 0xCA, 0x02, /* 01E0             call draw_world */
    0x21, 0x05, 0xC0, /* 01E3             ld hl,$C005 */
    0x34,             /* 01E6             inc (hl) ; frames so far */
    0x18, 0xE6,       /* 01E7             jr frame */

    /* Buttons to C002: A B select start right left up down, lowest bit first. */
    0x3E, 0x20,       /* 01E9 read_pad:   ld a,$20 */
    0xE0, 0x00,       /* 01EB             ldh ($00),a ; choose the directions */
    0xF0, 0x00,       /* 01ED             ldh a,($00) */
    0xF0, 0x00,       /* 01EF             ldh a,($00) ; the lines need time to settle */
    0x2F,             /* 01F1             cpl */
    0xE6, 0x0F,       /* 01F2             and $0F */
    0xCB, 0x37,       /* 01F4             swap a */
    0x47,             /* 01F6             ld b,a */
    0x3E, 0x10,       /* 01F7             ld a,$10 */
    0xE0, 0x00,       /* 01F9             ldh ($00),a ; choose the buttons */
    0xF0, 0x00,       /* 01FB             ldh a,($00) */
    0xF0, 0x00,       /* 01FD             ldh a,($00) */
    0xF0, 0x00,       /* 01FF             ldh a,($00) */
    0x2F,             /* 0201             cpl */
    0xE6, 0x0F,       /* 0202             and $0F */
    0xB0,             /* 0204             or b */
    0xEA, 0x02, 0xC0, /* 0205             ld ($C002),a */
    0x3E, 0x30,       /* 0208             ld a,$30 */
    0xE0, 0x00,       /* 020A             ldh ($00),a */
    0xC9,             /* 020C             ret */

    /* 2 pixels a frame, 4 while select is held. */
    0xFA, 0x02, 0xC0, /* 020D move_player:ld a,($C002) */
    0x47,             /* 0210             ld b,a */
    0x16, 0x02,       /* 0211             ld d,$02 */
    0xCB, 0x50,       /* 0213             bit 2,b */
    0x28, 0x02,       /* 0215             jr z,walk */
    0x16, 0x04,       /* 0217             ld d,$04 */
    0x21, 0x00, 0xC0, /* 0219 walk:       ld hl,$C000 */
    0xCB, 0x60,       /* 021C             bit 4,b */
    0x28, 0x03,       /* 021E             jr z,not_right */
    0x7E,             /* 0220             ld a,(hl) */
    0x82,             /* 0221             add a,d */
    0x77,             /* 0222             ld (hl),a */
    0xCB, 0x68,       /* 0223 not_right:  bit 5,b */
    0x28, 0x03,       /* 0225             jr z,not_left */
    0x7E,             /* 0227             ld a,(hl) */
    0x92,             /* 0228             sub d */
    0x77,             /* 0229             ld (hl),a */
    0x2C,             /* 022A not_left:   inc l */
    0xCB, 0x78,       /* 022B             bit 7,b */
    0x28, 0x03,       /* 022D             jr z,not_down */
    0x7E,             /* 022F             ld a,(hl) */
    0x82,             /* 0230             add a,d */
    0x77,             /* 0231             ld (hl),a */
    0xCB, 0x70,       /* 0232 not_down:   bit 6,b */
    0x28, 0x03,       /* 0234             jr z,not_up */
    0x7E,             /* 0236             ld a,(hl) */
    0x92,             /* 0237             sub d */
    0x77,             /* 0238             ld (hl),a */
    /* The camera keeps the player in the middle of 160 x 144 pixels. */
    0x7E,             /* 0239 not_up:     ld a,(hl) */
    0xD6, 0x44,       /* 023A             sub $44 */
    0xEA, 0x07, 0xC0, /* 023C             ld ($C007),a ; camera y */
    0x2D,             /* 023F             dec l */
    0x7E,             /* 0240             ld a,(hl) */
    0xD6, 0x4C,       /* 0241             sub $4C */
    0xEA, 0x06, 0xC0, /* 0243             ld ($C006),a ; camera x */
    0xC9,             /* 0246             ret */

    /* Even moths fly to the player, odd ones away; start holds all of them still. */
    0xFA, 0x02, 0xC0, /* 0247 move_moths: ld a,($C002) */
    0xCB, 0x5F,       /* 024A             bit 3,a */
    0xC0,             /* 024C             ret nz */
    0x21, 0x00, 0xC1, /* 024D             ld hl,$C100 */
    0x0E, 0x18,       /* 0250             ld c,$18 */
    0xCD, 0x15, 0x03, /* 0252 next_moth:  call random */
    0xE6, 0x07,       /* 0255             and $07 */
    0x20, 0x0C,       /* 0257             jr nz,fly ; turns are rare */
    0x11, 0x00, 0xC0, /* 0259             ld de,$C000 */
    0xCD, 0x73, 0x02, /* 025C             call turn */
    0x2C,             /* 025F             inc l */
    0x1C,             /* 0260             inc e */
    0xCD, 0x73, 0x02, /* 0261             call turn */
    0x2D,             /* 0264             dec l */
    0xCD, 0x85, 0x02, /* 0265 fly:        call drift */
    0x2C,             /* 0268             inc l */
    0xCD, 0x85, 0x02, /* 0269             call drift */
    0x2C,             /* 026C             inc l */
    0x2C,             /* 026D             inc l */
    0x2C,             /* 026E             inc l */
    0x0D,             /* 026F             dec c */
    0x20, 0xE0,       /* 0270             jr nz,next_moth */
    0xC9,             /* 0272             ret */

    /* Speed at hl + 2: towards (de) on this axis. */
    0x1A,             /* 0273 turn:       ld a,(de) */
    0x96,             /* 0274             sub (hl) */
    0x17,             /* 0275             rla */
    0x9F,             /* 0276             sbc a,a ; -1 if the player is below */
    0xF6, 0x01,       /* 0277             or $01 */
    0xCB, 0x41,       /* 0279             bit 0,c */
    0x28, 0x02,       /* 027B             jr z,towards */
    0x2F,             /* 027D             cpl */
    0x3C,             /* 027E             inc a */
    0x2C,             /* 027F towards:    inc l */
    0x2C,             /* 0280             inc l */
    0x77,             /* 0281             ld (hl),a */
    0x2D,             /* 0282             dec l */
    0x2D,             /* 0283             dec l */
    0xC9,             /* 0284             ret */

    /* Place at hl moves by the speed at hl + 2. */
    0x7E,             /* 0285 drift:      ld a,(hl) */
    0x2C,             /* 0286             inc l */
    0x2C,             /* 0287             inc l */
    0x86,             /* 0288             add a,(hl) */
    0x2D,             /* 0289             dec l */
    0x2D,             /* 028A             dec l */
    0x77,             /* 028B             ld (hl),a */
    0xC9,             /* 028C             ret */

    /* Sprites as the screen wants them, at C200: y + 16, x + 8, tile, flags. */
    0x11, 0x00, 0xC2, /* 028D draw_moths: ld de,$C200 */
    0x3E, 0x54,       /* 0290             ld a,$54 ; the player, always in the middle */
    0x12,             /* 0292             ld (de),a */
    0x1C,             /* 0293             inc e */
    0x3E, 0x54,       /* 0294             ld a,$54 */
    0x12,             /* 0296             ld (de),a */
    0x1C,             /* 0297             inc e */
    0x3E, 0x04,       /* 0298             ld a,$04 */
    0x12,             /* 029A             ld (de),a */
    0x1C,             /* 029B             inc e */
    0x1C,             /* 029C             inc e */
    0x21, 0x00, 0xC1, /* 029D             ld hl,$C100 */
    0x0E, 0x18,       /* 02A0             ld c,$18 */
    0xFA, 0x06, 0xC0, /* 02A2 draw_moth:  ld a,($C006) */
    0x47,             /* 02A5             ld b,a */
    0x2A,             /* 02A6             ld a,(hl+) */
    0x90,             /* 02A7             sub b */
    0xC6, 0x08,       /* 02A8             add a,$08 */
    0xF5,             /* 02AA             push af */
    0xFA, 0x07, 0xC0, /* 02AB             ld a,($C007) */
    0x47,             /* 02AE             ld b,a */
    0x2A,             /* 02AF             ld a,(hl+) */
    0x90,             /* 02B0             sub b */
    0xC6, 0x10,       /* 02B1             add a,$10 */
    0x12,             /* 02B3             ld (de),a */
    0x1C,             /* 02B4             inc e */
    0xF1,             /* 02B5             pop af */
    0x12,             /* 02B6             ld (de),a */
    0x1C,             /* 02B7             inc e */
    0x3E, 0x05,       /* 02B8             ld a,$05 */
    0x12,             /* 02BA             ld (de),a */
    0x1C,             /* 02BB             inc e */
    0xFA, 0x05, 0xC0, /* 02BC             ld a,($C005) */
    0x81,             /* 02BF             add a,c */
    0xE6, 0x30,       /* 02C0             and $30 ; wings: mirrored, recoloured */
    0x12,             /* 02C2             ld (de),a */
    0x1C,             /* 02C3             inc e */
    0x2C,             /* 02C4             inc l */
    0x2C,             /* 02C5             inc l */
    0x0D,             /* 02C6             dec c */
    0x20, 0xD9,       /* 02C7             jr nz,draw_moth */
    0xC9,             /* 02C9             ret */

    /* What may be written in the vertical blank alone: scrolling, colours, the map. */
    0xFA, 0x06, 0xC0, /* 02CA draw_world: ld a,($C006) */
    0xE0, 0x43,       /* 02CD             ldh ($43),a */
    0xFA, 0x07, 0xC0, /* 02CF             ld a,($C007) */
    0xE0, 0x42,       /* 02D2             ldh ($42),a */
    0xFA, 0x02, 0xC0, /* 02D4             ld a,($C002) */
    0x47,             /* 02D7             ld b,a */
    0x3E, 0xE4,       /* 02D8             ld a,$E4 */
    0xCB, 0x48,       /* 02DA             bit 1,b ; B turns the light off */
    0x28, 0x01,       /* 02DC             jr z,lit */
    0x2F,             /* 02DE             cpl */
    0xE0, 0x47,       /* 02DF lit:        ldh ($47),a */
    0xCB, 0x40,       /* 02E1             bit 0,b ; A leaves a lamp on the map */
    0x28, 0x1A,       /* 02E3             jr z,no_lamp */
    0xFA, 0x01, 0xC0, /* 02E5             ld a,($C001) */
    0xC6, 0x04,       /* 02E8             add a,$04 */
    0xE6, 0xF8,       /* 02EA             and $F8 */
    0x6F,             /* 02EC             ld l,a */
    0x26, 0x26,       /* 02ED             ld h,$26 ; 9800 / 4 */
    0x29,             /* 02EF             add hl,hl */
    0x29,             /* 02F0             add hl,hl */
    0xFA, 0x00, 0xC0, /* 02F1             ld a,($C000) */
    0xC6, 0x04,       /* 02F4             add a,$04 */
    0x0F,             /* 02F6             rrca */
    0x0F,             /* 02F7             rrca */
    0x0F,             /* 02F8             rrca */
    0xE6, 0x1F,       /* 02F9             and $1F */
    0xB5,             /* 02FB             or l */
    0x6F,             /* 02FC             ld l,a */
    0x36, 0x06,       /* 02FD             ld (hl),$06 */
    /* Time wears the map: one tile a frame becomes another texture. */
    0xCD, 0x15, 0x03, /* 02FF no_lamp:    call random */
    0xFA, 0x04, 0xC0, /* 0302             ld a,($C004) */
    0xE6, 0x03,       /* 0305             and $03 */
    0xF6, 0x98,       /* 0307             or $98 */
    0x67,             /* 0309             ld h,a */
    0xFA, 0x03, 0xC0, /* 030A             ld a,($C003) */
    0x6F,             /* 030D             ld l,a */
    0xFA, 0x05, 0xC0, /* 030E             ld a,($C005) */
    0xE6, 0x03,       /* 0311             and $03 */
    0x77,             /* 0313             ld (hl),a */
    0xC9,             /* 0314             ret */

    /* Galois register of 16 bits, taps B400; the low byte to a. Keeps hl, bc. */
    0xE5,             /* 0315 random:     push hl */
    0x21, 0x04, 0xC0, /* 0316             ld hl,$C004 */
    0xCB, 0x3E,       /* 0319             srl (hl) */
    0x2D,             /* 031B             dec l */
    0xCB, 0x1E,       /* 031C             rr (hl) */
    0x30, 0x06,       /* 031E             jr nc,no_tap */
    0x2C,             /* 0320             inc l */
    0x7E,             /* 0321             ld a,(hl) */
    0xEE, 0xB4,       /* 0322             xor $B4 */
    0x77,             /* 0324             ld (hl),a */
    0x2D,             /* 0325             dec l */
    0x7E,             /* 0326 no_tap:     ld a,(hl) */
    0xE1,             /* 0327             pop hl */
    0xC9,             /* 0328             ret */

    /* Moved to FF80: starts the copy of C200 and waits until it is over. */
    0x3E, 0xC2,       /* 0329 copy_oam:   ld a,$C2 */
    0xE0, 0x46,       /* 032B             ldh ($46),a */
    0x3E, 0x28,       /* 032D             ld a,$28 */
    0x3D,             /* 032F copying:    dec a */
    0x20, 0xFD,       /* 0330             jr nz,copying */
    0xC9,             /* 0332             ret */

    /* 0..3 textures, 4 player, 5 moth, 6 lamp; 8 rows of low and high bit planes. */
    0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, /* 0333 tiles: */
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0xAA, 0x00, 0x00, 0x00, 0xAA, 0x00, 0x00, 0x00, /* 0343 */
    0xAA, 0x00, 0x00, 0x00, 0xAA, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x7E, 0x7E, 0x42, 0x42, 0x42, 0x42, /* 0353 */
    0x42, 0x42, 0x42, 0x42, 0x7E, 0x7E, 0x00, 0x00,
    0x88, 0xFF, 0x22, 0xDD, 0x88, 0x77, 0x22, 0xDD, /* 0363 */
    0x88, 0x77, 0x22, 0xDD, 0x88, 0x77, 0x22, 0xFF,
    0x3C, 0x3C, 0x7E, 0x42, 0xFF, 0xA5, 0xFF, 0x81, /* 0373 */
    0xFF, 0xA5, 0xFF, 0x99, 0x7E, 0x42, 0x3C, 0x3C,
    0x00, 0x00, 0xC3, 0xC3, 0xE7, 0xA5, 0x7E, 0x5A, /* 0383 */
    0x3C, 0x18, 0x7E, 0x5A, 0xE7, 0xA5, 0x42, 0x42,
    0xFF, 0xFF, 0x81, 0xFF, 0xBD, 0xC3, 0xA5, 0xDB, /* 0393 */
    0xA5, 0xDB, 0xBD, 0xC3, 0x81, 0xFF, 0xFF, 0xFF,
};
/* clang-format on */

/* Over title and header; the console refuses a cartridge where it is wrong. */
static uint8_t header_sum(const uint8_t *rom)
{
    unsigned sum = 0;
    for (size_t i = TITLE; i < HEADER_SUM; i++) {
        sum = sum - rom[i] - 1;
    }
    return (uint8_t)(sum & 0xFF);
}

/* Over all bytes but its own two. */
static unsigned rom_sum(const uint8_t *rom)
{
    unsigned sum = 0;
    for (size_t i = 0; i < FULCRUM_GAMEBOY_ROM_BYTE; i++) {
        sum += i == ROM_SUM || i == ROM_SUM + 1 ? 0U : rom[i];
    }
    return sum & 0xFFFF;
}

/*
 * The rest of the header is zero: plain 32 KiB cartridge without battery memory. The
 * area of the maker's trademark stays empty: emulators without a boot ROM, such as
 * gambatte, do not look at it.
 */
void fulcrum_gameboy_rom(uint8_t *rom)
{
    static const uint8_t entry[] = {0x00, 0xC3, PROGRAM & 0xFF, PROGRAM >> 8};
    static const char title[] = "LAMPS AND MOTHS";
    memset(rom, 0, FULCRUM_GAMEBOY_ROM_BYTE);
    rom[VECTOR_VBLANK] = 0xD9; /* reti: waking up is all */
    memcpy(rom + ENTRY, entry, sizeof entry);
    memcpy(rom + TITLE, title, sizeof title - 1);
    memcpy(rom + PROGRAM, program, sizeof program);
    rom[HEADER_SUM] = header_sum(rom);
    unsigned sum = rom_sum(rom);
    rom[ROM_SUM] = (uint8_t)(sum >> 8);
    rom[ROM_SUM + 1] = (uint8_t)(sum & 0xFF);
}
